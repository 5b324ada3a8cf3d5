// SPDX-License-Identifier: Apache-2.0

#include "pass/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "parsed.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// Two blocks of two operators around one that is of no block.
constexpr std::string_view kTwoBlocks = R"(module "": Net
module layer.0: Block
module layer.0.fc: Linear
module layer.1: Block
parameter %v: f32[8,8] "layer.0.fc.weight"
parameter %w: f32[8,8] "layer.1.fc.weight"
input %x: f32[2,8]
%a: f32[2,8] = aten::linear(%x, %v) in layer.0.fc
%b: f32[2,8] = aten::tanh(%a) in layer.0
%c: f32[2,8] = aten::relu(%b)
%d: f32[2,8] = aten::linear(%c, %w) in layer.1
%e: f32[2,8] = aten::add.Tensor(%d, %b) in layer.1
return %e
)";

Result<Program> Recomputed(std::vector<std::string> patterns, bool reentrant = false) {
  Result<Program> program = ParseText(kTwoBlocks, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return Recompute(*std::move(program),
                   {.recompute = std::move(patterns), .recompute_reentrant = reentrant});
}

TEST(Recompute, EachCallOfANamedModuleBecomesAGraph) {
  const Result<Program> program = Recomputed({"layer.*"});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(Verify(*program));
  EXPECT_THAT(Operators(*program, 0),
              ElementsAre("steelyard::checkpoint", "aten::relu", "steelyard::checkpoint"));
  ASSERT_EQ(program->graphs.size(), 3u);
  EXPECT_THAT(Operators(*program, 1), ElementsAre("aten::linear", "aten::tanh"));
  EXPECT_THAT(Operators(*program, 2), ElementsAre("aten::linear", "aten::add.Tensor"));
}

TEST(Recompute, ArgumentsAreTensorsFromOutsideInOrderAndParametersComeAfterThem) {
  const Program program = Recomputed({"layer.1"}, true).value();
  const Node& call = program.main().nodes.back();
  const std::span<const Argument> args = program.args(call);
  ASSERT_EQ(args.size(), 6u);
  EXPECT_EQ(args[1].dim.number(), 2);  // %c and %b
  EXPECT_EQ(args[2].dim.number(), 1);  // reentrant
  const auto name = [&](std::size_t i) { return program.text(program.values[args[i].value].name); };
  EXPECT_EQ(name(3), "c");
  EXPECT_EQ(name(4), "b");
  EXPECT_EQ(name(5), "w");
}

TEST(Recompute, OnlyTheOutermostModuleIsARegion) {
  const Program program = Recomputed({"layer.0", "*.fc"}).value();
  EXPECT_THAT(Operators(program, 0), ElementsAre("steelyard::checkpoint", "aten::relu",
                                                 "aten::linear", "aten::add.Tensor"));
}

TEST(Recompute, CallsOfOneModuleAreToldApart) {
  Program program = ParseText(kTwoBlocks, "").value();
  // layer.1 is called twice: once for each of its operators.
  program.calls = {{.module = 0}, {.module = 3, .parent = 0}, {.module = 3, .parent = 0}};
  std::vector<Node>& nodes = program.main().nodes;
  nodes[3].call = 1;
  nodes[4].call = 2;
  EXPECT_THAT(Operators(Recompute(std::move(program), {.recompute = {"layer.1"}}).value(), 0),
              ElementsAre("aten::linear", "aten::tanh", "aten::relu", "steelyard::checkpoint",
                          "steelyard::checkpoint"));
}

TEST(Recompute, APatternNamesSomething) {
  const Result<Program> program = Recomputed({"layer.*", "decoder"});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "no module is called \"decoder\"");
}

TEST(Recompute, ARegionStandsTogether) {
  Program program = ParseText(kTwoBlocks, "").value();
  program.calls = {{.module = 0}, {.module = 1, .parent = 0}, {.module = 3, .parent = 0}};
  std::vector<Node>& nodes = program.main().nodes;
  nodes[0].call = nodes[4].call = 1;
  nodes[3].call = 2;
  EXPECT_FALSE(Recompute(std::move(program), {.recompute = {"layer.0"}}));
}

}  // namespace
}  // namespace steelyard
