// SPDX-License-Identifier: Apache-2.0
//
// The expected events are the rules of torch/amp/grad_scaler.py; tests/differential has PyTorch's.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::Contains;

constexpr std::int64_t kNumber = 4, kDouble = 8;

// A step of %w f32[4] whose loss is scaled.
std::string ScaledStep(std::string_view first_step) {
  return "parameter %w: f32[4]\n%l = aten::sum(%w)\n%s = steelyard::scaled_loss(%l, " +
         std::string(first_step) +
         ") phase loss\nsteelyard::backward(%s, None, False) phase backward\n"
         "%f = steelyard::unscale_gradients([%w]) phase optimizer\n"
         "steelyard::update_scaler(%f) phase optimizer\nreturn %l\n";
}

std::int64_t StateOf(const std::string& step) {
  const Timeline timeline = RunEager(KernelsOfProgram(step), Target{});
  return Of(timeline.resident, Category::kOptimizerState);
}

TEST(GradScaler, KeepsAScaleAndHowLongItHasNotGrown) {
  EXPECT_EQ(StateOf(ScaledStep("False")), 2 * kNumber);
  EXPECT_EQ(StateOf(ScaledStep("True")), 0);
}

TEST(GradScaler, InvertsTheScaleInFloat64) {
  EXPECT_THAT(EventsOfProgram(ScaledStep("False")), Contains(Line(kDouble, "aten::reciprocal")));
}

TEST(GradScaler, OfTheFirstStepMakesItsState) {
  const auto made = [](const std::string& step) {
    int count = 0;
    for (const std::string& event : EventsOfProgram(step)) {
      count += event == Line(kNumber, "aten::empty") ? 1 : 0;
    }
    return count;
  };
  // In each step what was found: one number.
  EXPECT_EQ(made(ScaledStep("True")) - made(ScaledStep("False")), 2);
}

TEST(GradScaler, LooksThroughTheGradients) {
  bool looked = false;
  const Program kernels = KernelsOfProgram(ScaledStep("False"));
  for (const Node& node : kernels.main().nodes) {
    looked |= kernels.op_name(node.op) == "aten::_amp_foreach_non_finite_check_and_unscale_";
  }
  EXPECT_TRUE(looked);
}

}  // namespace
}  // namespace steelyard
