// SPDX-License-Identifier: Apache-2.0
#include "execute/skipped_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "execute/execution.h"
#include "kernels.h"

namespace steelyard {
namespace {

using ::testing::Contains;

// A step whose loss is scaled, with what an optimizer is told besides.
std::string Scaled(const std::string& optimizer) {
  return "parameter %w: f32[4,8] \"fc.weight\"\n"
         "input %x: f32[2,8]\n"
         "%y: f32[2,4] = aten::linear(%x, %w)\n"
         "%l: f32[] = aten::sum(%y)\n"
         "%s: f32[] = steelyard::scaled_loss(%l)\n"
         "steelyard::backward(%s) phase backward\n"
         "%found: f32[] = steelyard::unscale_gradients([%w]) phase optimizer\n" +
         optimizer +
         " phase optimizer\n"
         "steelyard::update_scaler(%found) phase optimizer\n"
         "return %l\n";
}

TEST(OptionalStep, IsTheOptimizersWhereAScalerLooks) {
  EXPECT_FALSE(OptionalStepOf(Kernels(kStep)));
  const Program kernels = Kernels(Scaled("steelyard::sgd([%w], False)"));
  const std::optional<OptionalStep> step = OptionalStepOf(kernels);
  ASSERT_TRUE(step);
  EXPECT_EQ(kernels.op_name(kernels.main().nodes[step->begin].op), "aten::add_.Tensor");
  for (NodeId node = step->begin + 1; node < step->end; ++node) {
    EXPECT_TRUE(kernels.is_drop(kernels.main().nodes[node]));
  }
}

TEST(OptionalStep, FusedKernelsLeaveItOutThemselves) {
  EXPECT_FALSE(
      OptionalStepOf(Kernels(Scaled("steelyard::sgd([%w], False, fused=True, found_inf=%found)"))));
}

TEST(OptionalStep, RunsWhereNothingHasOverflowed) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(Scaled("steelyard::adamw([%w], False)"));
  const OptionalStep step = OptionalStepOf(kernels).value();
  Result<Execution> execution = Execution::Open(engine, kernels, {});
  ASSERT_TRUE(execution);
  const auto end = static_cast<NodeId>(kernels.main().nodes.size());
  const std::string rest = "run " + std::to_string(step.begin) + " " + std::to_string(end);
  Remembered().holds[step.found] = 0;
  ASSERT_TRUE(execution->Run(0, end));
  EXPECT_THAT(Remembered().words, Contains(rest));
  EXPECT_EQ(execution->skipped_steps(), 0);
}

TEST(OptionalStep, LetsGoOnlyWhereGradientsHaveOverflowed) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(Scaled("steelyard::adamw([%w], False)"));
  const OptionalStep step = OptionalStepOf(kernels).value();
  Result<Execution> execution = Execution::Open(engine, kernels, {});
  ASSERT_TRUE(execution);
  const auto end = static_cast<NodeId>(kernels.main().nodes.size());
  Remembered().holds[step.found] = 1;
  ASSERT_TRUE(execution->Run(0, end));
  EXPECT_EQ(execution->skipped_steps(), 1);
  for (NodeId node = step.begin; node < step.end; ++node) {
    const std::string alone = "run " + std::to_string(node) + " " + std::to_string(node + 1);
    const auto ran = std::ranges::count(Remembered().words, alone);
    EXPECT_EQ(ran, kernels.is_drop(kernels.main().nodes[node]) ? 1 : 0) << node;
  }
  EXPECT_THAT(Remembered().words,
              Contains("run " + std::to_string(step.end) + " " + std::to_string(end)));
}

}  // namespace
}  // namespace steelyard
