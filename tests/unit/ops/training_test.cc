// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace steelyard
