// SPDX-License-Identifier: Apache-2.0
#include "pass/model_outputs.h"

#include <gtest/gtest.h>

#include <span>
#include <string_view>
#include <vector>

#include "parsed.h"

namespace steelyard {
namespace {

constexpr std::string_view kTwoOutputs = R"(input %x: f32[2,3]
%a: f32[2,3] = aten::relu(%x)
%b: f32[2,3] = aten::neg(%a)
%loss: f32[] = aten::sum(%b) phase loss
return %loss, %b, %x, %a
)";

ValueId MadeBy(const Program& program, std::size_t node) {
  return program.results(program.main().nodes[node])[0];
}

TEST(ModelOutputs, AreWhatTheseNodesMakeInTheProgramsOrder) {
  const Program program = Parsed(kTwoOutputs);
  const std::span<const Node> nodes(program.main().nodes);
  const std::vector<Argument> outputs = ModelOutputs(program, nodes.first(2));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].value, MadeBy(program, 1));
  EXPECT_EQ(outputs[1].value, MadeBy(program, 0));
  EXPECT_TRUE(ModelOutputs(program, {}).empty());
}

TEST(Replacements, StandInListsAndInWhatTheProgramReturns) {
  Program program = Parsed(R"(input %x: f32[2,3]
%a: f32[2,3] = aten::relu(%x)
%b: f32[2,3] = aten::neg(%x)
%c: f32[4,3] = aten::cat([%a, %a], 0)
return %a, %c
)");
  const ValueId a = MadeBy(program, 0), b = MadeBy(program, 1);
  Replacements replaced(program);
  replaced.Set(a, b);
  Node& cat = program.main().nodes[2];
  cat.arguments = replaced.In(cat.arguments);
  for (const Argument& listed : program.list(program.args(cat)[0].list)) {
    EXPECT_EQ(listed.value, b);
  }
  replaced.InOutputs();
  EXPECT_EQ(program.main().outputs[0].value, b);
  EXPECT_EQ(program.main().outputs[1].value, MadeBy(program, 2));
}

}  // namespace
}  // namespace steelyard
