// SPDX-License-Identifier: Apache-2.0

#include "pass/overwrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// leaky_relu saves its operand, leaky_relu_ its result: of the two in layer.1 one can be in place.
constexpr std::string_view kTwoActivations = R"(module "": Net
module layer.0: Block
module layer.0.act: ReLU
module layer.1: Block
parameter %v: f32[8,8] "layer.0.weight"
parameter %w: f32[8,8] "layer.1.weight"
input %x: f32[2,8]
%a: f32[2,8] = aten::linear(%x, %v) in layer.0
%b: f32[2,8] = aten::relu(self=%a) in layer.0.act
%c: f32[2,8] = aten::linear(%b, %w) in layer.1
%d: f32[2,8] = aten::leaky_relu(%c) in layer.1
%e: f32[2,8] = aten::leaky_relu(%d) in layer.1
%l: f32[] = aten::sum(%e) phase loss
steelyard::backward(%l) phase backward
return %e
)";

Result<Program> Overwritten(std::vector<std::string> patterns) {
  Result<Program> program = ParseText(kTwoActivations, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return Overwrite(*std::move(program), {.inplace = std::move(patterns)}, {});
}

std::vector<std::string> Forward(const Program& program) {
  std::vector<std::string> out;
  for (const Node& node : program.main().nodes) {
    if (node.phase == Phase::kForward) out.emplace_back(program.op_name(node.op));
  }
  return out;
}

TEST(Overwrite, NothingIsDoneUnasked) { EXPECT_EQ(Overwritten({}).value().notes.size(), 0u); }

TEST(Overwrite, APatternNamesModulesAndThoseWithinThem) {
  EXPECT_THAT(Forward(Overwritten({"layer.0"}).value()),
              ElementsAre("aten::linear", "aten::relu_", "aten::linear", "aten::leaky_relu",
                          "aten::leaky_relu"));
}

TEST(Overwrite, AFormThatSavesItsResultKeepsTheNextCallFromOverwritingIt) {
  const Program program = Overwritten({"*"}).value();
  EXPECT_TRUE(Verify(program));
  EXPECT_THAT(Forward(program), ElementsAre("aten::linear", "aten::relu_", "aten::linear",
                                            "aten::leaky_relu_", "aten::leaky_relu"));
  EXPECT_EQ(
      program.text(program.notes.back()),
      "--inplace: 2 of 3 calls overwrite their operand; the others' is saved for the backward "
      "pass or read again");
}

TEST(Overwrite, ResultAndOperandShareTheirBytes) {
  const Program program = Overwritten({"*.act"}).value();
  const Node& relu = program.main().nodes[1];
  EXPECT_EQ(program.values[program.results(relu)[0]].storage,
            program.values[program.args(relu)[0].value].storage);
}

TEST(Overwrite, APatternNamesSomething) {
  const Result<Program> program = Overwritten({"decoder"});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "no module is called \"decoder\"");
}

TEST(Overwrite, ItIsSaidWhereNothingCanBeInPlace) {
  Program program = ParseText(kTwoActivations, "").value();
  program.main().nodes.erase(program.main().nodes.begin() + 4);
  program.main().outputs = {Argument::OfValue(program.results(program.main().nodes[3])[0])};
  program.arguments[program.main().nodes[4].arguments.begin] = program.main().outputs[0];
  program.main().nodes[3].module = 0;
  const Result<Program> none = Overwrite(std::move(program), {.inplace = {"layer.1"}}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no call there has a form that overwrites its operand");
}

}  // namespace
}  // namespace steelyard
