// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Backward, HoldsTheGradientOfTheLossUntilItReturns) {
  const std::vector<std::string> events = EventsOfProgram(StepOf("aten::exp(%p)"));
  // Then the loss, which the caller holds.
  EXPECT_EQ(events[events.size() - 2], Line(-4, ""));
  EXPECT_EQ(events.back(), Line(-4, ""));
}

TEST(ZeroGrad, DropsGradientsInTheOrderOfTheParameters) {
  const std::vector<std::string> events = EventsOfProgram(
      StepOf("aten::mul.Tensor(%p, %q)", "steelyard::zero_grad([%p, %q], \"SGD\")\n"));
  EXPECT_THAT(events, Contains(Line(-4 * 8 * 4, "Optimizer.zero_grad#SGD.zero_grad")).Times(2));
}

std::vector<std::string> StepEndingWith(std::string_view end) {
  return EventsOfProgram(StepOf("aten::mul.Tensor(%p, %q)", end));
}

TEST(ZeroGrad, OverwritesGradientsThatAreKept) {
  const std::vector<std::string> events =
      StepEndingWith("steelyard::zero_grad([%p, %q], \"SGD\", True) phase optimizer\n");
  EXPECT_THAT(events, Contains(Line(-kMatrix, "Optimizer.zero_grad#SGD.zero_grad")).Times(0));
}

// The gradient of %p is added into what the step before has left: it dies in AccumulateGrad.
TEST(KeepGradients, AreThereBeforeTheStep) {
  const std::string text = "steelyard::keep_gradients()\n";
  std::string program = StepOf("aten::mul.Tensor(%p, %q)");
  program.insert(program.find("%y ="), text);
  const Program kernels = KernelsOfProgram(program);
  const Timeline timeline = RunEager(kernels, Target{});
  EXPECT_EQ(Of(timeline.resident, Category::kGradients), 2 * kMatrix);
  EXPECT_THAT(EventsOfProgram(program),
              Contains(Line(-kMatrix, "torch::autograd::AccumulateGrad")).Times(2));
}

// Norms of both gradients, stacked, and of them; the coefficient; all die by the end.
TEST(ClipByNorm, NeedsOneNumberForEachGradient) {
  const std::vector<std::string> without = StepEndingWith("");
  const std::vector<std::string> events =
      StepEndingWith("steelyard::clip_grad_norm_([%p, %q], 1.0) phase optimizer\n");
  EXPECT_THAT(events, Contains(Line(2 * 4, "aten::cat")));
  EXPECT_THAT(events, Contains(Line(4, "aten::linalg_vector_norm")).Times(3));
  EXPECT_THAT(events, Contains(Line(4, "aten::clamp")));
  EXPECT_THAT(events, Contains(Line(kMatrix, "")).Times(0));
}

// Norms are numbers on the device; counters of steps, which look the same, are in the host's
// memory.
TEST(ClipByNorm, LeavesCountersWhereTheyAre) {
  constexpr Target kDevice{.device = Device::kCuda, .capability = 90};
  const auto numbers = [&](std::string_view clips, std::string_view first) {
    const std::string end = std::string(clips) + "steelyard::adamw([%p, %q], " +
                            std::string(first) + ", foreach=True) phase optimizer\n";
    const Timeline timeline =
        RunEager(KernelsOfProgram(StepOf("aten::mul.Tensor(%p, %q)", end), kDevice), kDevice);
    return std::ranges::count(timeline.events, 4, &Event::bytes);
  };
  // Two norms and that of both, its sum, reciprocal, product and clamp.
  constexpr std::string_view kClips = "steelyard::clip_grad_norm_([%p, %q], 1.0) phase optimizer\n";
  EXPECT_EQ(numbers(kClips, "False") - numbers("", "False"), 7);
  EXPECT_EQ(numbers(kClips, "True") - numbers("", "True"), 7);
}

TEST(ClipByValue, NeedsNothing) {
  EXPECT_EQ(StepEndingWith("steelyard::clip_grad_value_([%p, %q], 1.0) phase optimizer\n"),
            StepEndingWith(""));
}

// Two micro-steps: the outputs and the loss of the first die between them, and the second adds its
// gradients to those of the first.
TEST(EndMicroStep, LetsGoAndRecordsAgain) {
  const std::string text =
      "parameter %p: f32[4,8]\n%y = aten::exp(%p)\n%l = aten::sum(%y)\n"
      "steelyard::backward(%l) phase backward\nsteelyard::end_micro_step(%y, %l) phase backward\n"
      "%z = aten::exp(%p)\n%loss = aten::sum(%z)\nsteelyard::backward(%loss) phase backward\n"
      "return %loss\n";
  const std::vector<std::string> events = EventsOfProgram(text);
  const auto second =
      std::ranges::find(events.begin() + 1, events.end(), Line(kMatrix, "aten::exp"));
  ASSERT_NE(second, events.end());
  EXPECT_EQ(*(second - 2), Line(-kMatrix, ""));  // %y
  EXPECT_EQ(*(second - 1), Line(-4, ""));        // %l
  EXPECT_THAT(events, Contains(Line(-kMatrix, "torch::autograd::AccumulateGrad")).Times(1));
}

TEST(ScaleLoss, IsADivisionInPython) {
  const std::string text =
      "parameter %p: f32[4,8]\n%l = aten::sum(%p)\n%loss = steelyard::scale_loss(%l, 4)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n";
  const std::vector<std::string> events = EventsOfProgram(text);
  EXPECT_EQ(events[1], Line(8, ""));  // the box of the number, kept for the backward pass
  EXPECT_EQ(events[2], Line(4, "aten::empty_strided"));
  EXPECT_EQ(events[3], Line(4, "aten::div"));
}

}  // namespace
}  // namespace steelyard
