// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/engine_norm.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine_steps.h"

namespace steelyard::ops {
namespace {

using ::testing::ElementsAre;

// The kernels of the optimizer's phase, without numbers that are put into tensors.
std::vector<std::string> KernelsOfUpdate(const std::string& text) {
  std::vector<std::string> out = KernelsOfPhase(KernelsOfProgram(text), Phase::kOptimizer);
  std::erase(out, "steelyard::box");
  return out;
}

// It asks once of the norms of groups, once of their norm, and once more of each group whose
// gradient is clipped; in bfloat16 the second time only if it looks for overflows.
TEST(EngineNorm, NormsAreAskedWhetherTheyAreInvalid) {
  const auto times = [](const std::string& options, const std::string& dtype = "f32") {
    return CountOf(KernelsOfUpdate(StepOfWhole("2, 2, 0, False, 1, 100, " + options, dtype)),
                   "aten::any");
  };
  EXPECT_EQ(times("False, True, 1.0"), 3);
  EXPECT_EQ(times("False, True, 0.0"), 2);
  EXPECT_EQ(times("False, True, 1.0, True", "bf16"), 3);
  EXPECT_EQ(times("False, True, 1.0, False", "bf16"), 2);
}

TEST(EngineNorm, TheNormDecidesTheScale) {
  std::vector<std::string> kernels = KernelsOfUpdate(StepOfWhole("2, 2, 0, False, 1, 100"));
  kernels.erase(std::ranges::find(kernels, "steelyard::put_back"), kernels.end());
  kernels.erase(kernels.begin(), kernels.end() - 8);
  EXPECT_THAT(kernels, ElementsAre("aten::div.Tensor", "aten::add.Tensor", "aten::div.Tensor",
                                   "aten::clamp", "aten::mul.Tensor", "aten::reciprocal",
                                   "aten::mul.Tensor", "aten::mul_.Tensor"));
}

// Stages 1 and 2 combine norms in float32, stage 3 in float64.
TEST(EngineNorm, NormsAreCombinedInTheirPrecision) {
  EXPECT_EQ(CountOf(EventsOfProgram(StepOfWhole("2, 2, 0, False, 1, 100")), "+4 aten::reciprocal"),
            1);
  EXPECT_EQ(CountOf(EventsOfProgram(StepOfParts("[0, 1, 0, 1], 2, 0, False, 1, 100")),
                    "+8 aten::reciprocal"),
            1);
}

}  // namespace
}  // namespace steelyard::ops
