// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/steps.h"

#include <gmock/gmock.h>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::ElementsAre;

TEST(StepsInPostOrder, OperandsAreWhatOtherStepsGive) {
  const Built built(
      "input %x: f32[2,8]\n%a = aten::_softmax(%x, 1, False)\n%b = aten::tanh(%a)\n"
      "%c = aten::add.Tensor(%b, %a)\nreturn %c\n");
  const std::vector<Step> steps = built.Fused();
  EXPECT_THAT(built.Words(steps), ElementsAre("_softmax", "tanh+add", "result"));
  EXPECT_THAT(built.Names(steps[1].operands), ElementsAre("_softmax"));
  EXPECT_TRUE(steps[0].operands.empty());
}

// The body is walked from its end, first arguments first.
TEST(StepsInPostOrder, OperandsOfTheFirstArgumentRunFirst) {
  const Built built(
      "input %x: f32[2,8]\n%a = aten::_softmax(%x, 0, False)\n%b = aten::_softmax(%x, 1, False)\n"
      "%c = aten::mul.Tensor(%b, %x)\n%d = aten::add.Tensor(%c, %a)\nreturn %d\n");
  const std::vector<Step> steps = built.Fused();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[2].operands, (std::vector{steps[0].last(), steps[1].last()}));
  EXPECT_EQ(steps[0].last(), built.graph.calls[built.Find("mul")].uses[0].producer);
}

TEST(StepsInPostOrder, AReaderRunsBeforeItsOperandIsOverwritten) {
  const Built built(
      "input %x: f32[8]\nparameter %w: f32[8]\n%a = aten::_softmax(%w, 0, False)\n"
      "%b = aten::add_.Tensor(%w, %x)\nreturn %b, %a\n");
  const std::vector<Step> steps = built.Fused();
  EXPECT_THAT(built.Words(steps), ElementsAre("_softmax", "add_", "result"));
  EXPECT_THAT(built.Names(steps[1].before), ElementsAre("_softmax"));
}

TEST(DependenciesOf, NamesStepsByTheirPlaces) {
  const Built built(
      "input %x: f32[2,8]\n%a = aten::_softmax(%x, 1, False)\n%b = aten::_softmax(%a, 1, False)\n"
      "return %b, %a\n");
  const std::vector<Step> steps = built.Fused();
  const StepGraph graph = DependenciesOf(built.graph, steps);
  EXPECT_THAT(graph.needs[1], ElementsAre(0u));
  EXPECT_THAT(graph.needs[2], ElementsAre(1u, 0u));
  EXPECT_THAT(graph.users[0], ElementsAre(1u, 2u));
}

}  // namespace
}  // namespace steelyard::graph
