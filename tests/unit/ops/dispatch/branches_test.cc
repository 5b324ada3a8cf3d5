// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "../programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

std::string Choice(std::string_view first, std::string_view second) {
  return "input %p: bool[]\ninput %x: f32[4,4]\n"
         "%y: f32[4,4] = higher_order::cond(%p, @" +
         std::string(first) + ", @" + std::string(second) +
         ", [%x])\n"
         "return %y\n"
         "graph @cheap(%a: f32[4,4]) {\n  %b: f32[4,4] = aten::tanh(%a)\n  return %b\n}\n"
         "graph @dear(%a: f32[4,4]) {\n  %b: f32[4,4] = aten::mm(%a, %a)\n  return %b\n}\n";
}

TEST(Branches, TheCostliestRuns) {
  const Result<Program> first = RunText(Choice("dear", "cheap"));
  const Result<Program> second = RunText(Choice("cheap", "dear"));
  ASSERT_TRUE(first) << Describe(first.error());
  ASSERT_TRUE(second) << Describe(second.error());
  EXPECT_THAT(Names(*first), ElementsAre("aten::mm"));
  EXPECT_THAT(Names(*second), ElementsAre("aten::mm"));
  EXPECT_THAT(second->graph_runs, ElementsAre(1, 0, 1)) << "a trial is no run";
}

TEST(Branches, AmongEqualsTheFirst) {
  const Result<Program> same = RunText(Choice("cheap", "cheap"));
  ASSERT_TRUE(same) << Describe(same.error());
  EXPECT_THAT(Names(*same), ElementsAre("aten::tanh"));
}

}  // namespace
}  // namespace steelyard
