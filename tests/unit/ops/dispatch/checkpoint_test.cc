// SPDX-License-Identifier: Apache-2.0
//
// The expected events are the rules of torch/utils/checkpoint.py; tests/differential has PyTorch's.

#include "ops/dispatch/checkpoint.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// tanh of the product of the parameter and the operand, whose sum is the loss.
std::string StepAround(std::string_view call) {
  return "parameter %p: f32[4,8]\nparameter %q: f32[4,8]\ninput %x: f32[4,8]\n"
         "%h = aten::mul.Tensor(%x, %q)\n%y = " +
         std::string(call) +
         "\n%z = aten::mul.Tensor(%y, %p)\n%loss = aten::sum(%z)\n"
         "steelyard::backward(%loss) phase backward\nreturn %loss\n"
         "graph @g(%a: f32[4,8], %b: f32[4,8]) {\n  %m: f32[4,8] = aten::mul.Tensor(%a, %b)\n"
         "  %t: f32[4,8] = aten::tanh(%m)\n  %s: f32[4,8] = aten::mul.Tensor(%t, %b)\n"
         "  return %s\n}\n";
}

TEST(Checkpoint, TheRunInTheBackwardPassStopsWhereTheLastTensorIsSaved) {
  const Program kernels =
      KernelsOfProgram(StepAround("steelyard::checkpoint(@g, 1, False, %h, %p)"));
  // The last product saves its operands and need not be computed.
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kRecompute),
              ElementsAre("aten::mul.Tensor", "aten::tanh", "steelyard::restore_random_state"));
}

TEST(Checkpoint, TheReentrantFormRunsItAll) {
  const Program kernels =
      KernelsOfProgram(StepAround("steelyard::checkpoint(@g, 1, True, %h, %p)"));
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kRecompute),
              ElementsAre("aten::mul.Tensor", "aten::tanh", "aten::mul.Tensor",
                          "steelyard::restore_random_state"));
}

TEST(Checkpoint, StatesOfRandomNumbersAreKeptAndForked) {
  for (const char* call : {"steelyard::checkpoint(@g, 1, False, %h, %p)",
                           "steelyard::checkpoint(@g, 1, True, %h, %p)"}) {
    const std::vector<std::string> events = EventsOfProgram(StepAround(call));
    const auto states = std::ranges::count_if(events, [](const std::string& event) {
      return event.starts_with("+" + std::to_string(kRandomStateBytes) + " ");
    });
    EXPECT_EQ(states, 2) << call;
  }
}

TEST(Checkpoint, WhatTheRegionComputesDiesInTheForwardPass) {
  const std::vector<std::string> events =
      EventsOfProgram(StepAround("steelyard::checkpoint(@g, 1, False, %h, %p)"));
  // Product and hyperbolic tangent, freed by the program itself, before anything of the backward.
  const auto end = std::ranges::find(events, Line(4, "aten::sum"));
  EXPECT_EQ(std::count(events.begin(), end, Line(-kMatrix, "")), 2);
}

TEST(Checkpoint, OfTheReentrantFormNothingIsTrainedWithoutAnInputThatIs) {
  const Program kernels =
      KernelsOfProgram(StepAround("steelyard::checkpoint(@g, 1, True, %x, %p)"));
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kRecompute), ElementsAre());
  EXPECT_EQ(kernels.notes.size(), 1u);
}

TEST(Checkpoint, AMarkedRegionRunsToItsEndAndKeepsNoState) {
  const std::string text =
      StepAround("higher_order::tag_activation_checkpoint(@g, %h, %p, use_reentrant=False)");
  EXPECT_THAT(KernelsOfPhase(KernelsOfProgram(text), Phase::kRecompute),
              ElementsAre("aten::mul.Tensor", "aten::tanh", "aten::mul.Tensor"));
  EXPECT_THAT(EventsOfProgram(text), Not(Contains(::testing::StartsWith("+5056"))));
}

// As PyTorch 2.15 unpacks the region's arguments; those of the reentrant form are detached.
TEST(Checkpoint, WhatARegionIsGivenMayNotBeOverwritten) {
  const std::string text =
      "parameter %p: f32[4,8]\ninput %x: f32[4,8]\n%h = aten::neg(%x)\n"
      "%y = steelyard::checkpoint(@g, 1, False, %h, %p)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n"
      "graph @g(%a: f32[4,8], %b: f32[4,8]) {\n  %r: f32[4,8] = aten::relu_(%a)\n"
      "  %s: f32[4,8] = aten::mul.Tensor(%r, %b)\n  return %s\n}\n";
  const Result<Program> program = ParseText(text, "");
  ASSERT_TRUE(program);
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()),
              ::testing::HasSubstr("torch.utils.checkpoint needs f32[4,8] as it was"));
}

TEST(Checkpoint, WithoutGradientsItIsItsBody) {
  const Program kernels = KernelsOfProgram(
      "input %x: f32[4,8]\n%y = steelyard::checkpoint(@g, 1, False, %x)\nreturn %y\n"
      "graph @g(%a: f32[4,8]) {\n  %t: f32[4,8] = aten::tanh(%a)\n  return %t\n}\n");
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kForward), Contains("aten::tanh"));
}

}  // namespace
}  // namespace steelyard
