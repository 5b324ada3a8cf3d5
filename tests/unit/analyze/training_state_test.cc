// SPDX-License-Identifier: Apache-2.0

#include "analyze/training_state.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {
namespace {

// A step of Adam for one parameter of 4 x 8 elements; `first_step` as text.
Program Trained(const std::string& first_step) {
  const Result<Program> program = ParseText(
      "parameter %p: f32[4,8]\n%loss = aten::sum(%p)\n"
      "steelyard::backward(%loss) phase backward\nsteelyard::adam([%p], " +
          first_step + ") phase optimizer\nreturn %loss\n",
      "");
  EXPECT_TRUE(program) << Describe(program.error());
  return Dispatcher(*program, Target{}).Run().value();
}

TEST(TrainingState, IsTheSameInTheFirstStepAndLater) {
  for (const char* first_step : {"True", "False"}) {
    const TrainingState state = CountTrainingState(Trained(first_step));
    EXPECT_EQ(state.gradients, 4 * 8 * 4);
    EXPECT_EQ(state.optimizer_state, 4 + 2 * 4 * 8 * 4);
  }
}

TEST(TrainingState, OfALaterStepHasNames) {
  const Program kernels = Trained("False");
  const TrainingState state = CountTrainingState(kernels);
  ASSERT_EQ(state.parts.size(), 3u);
  EXPECT_EQ(kernels.text(state.parts[0].name), "step");
  EXPECT_EQ(state.parts[0].bytes, 4);
  EXPECT_EQ(kernels.text(state.parts[1].name), "exp_avg");
  EXPECT_EQ(kernels.text(state.parts[2].name), "exp_avg_sq");
  EXPECT_EQ(state.parts[2].bytes, 4 * 8 * 4);
}

TEST(TrainingState, NothingIsKeptForAForwardPass) {
  const Program program =
      ParseText("parameter %p: f32[4,8]\n%y = aten::exp(%p)\nreturn %y\n", "").value();
  const TrainingState state = CountTrainingState(Dispatcher(program, Target{}).Run().value());
  EXPECT_EQ(state.gradients, 0);
  EXPECT_EQ(state.optimizer_state, 0);
  EXPECT_TRUE(state.parts.empty());
}

}  // namespace
}  // namespace steelyard
