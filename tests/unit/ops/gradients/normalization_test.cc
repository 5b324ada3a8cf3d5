// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/normalization.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../image_steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(NormalizationGradients, ABatchNormKeepsWhatItNormalizedWith) {
  constexpr std::string_view kCall = "aten::batch_norm(%p, %a, %b, %m, %v, True, 0.1, 1e-05, True)";
  EXPECT_THAT(SavedOfImage(kCall),
              ElementsAre("p by NativeBatchNormBackward0", "m by NativeBatchNormBackward0",
                          "v by NativeBatchNormBackward0", "a by NativeBatchNormBackward0",
                          " by NativeBatchNormBackward0", " by NativeBatchNormBackward0"));
  EXPECT_THAT(ImageBackwardOf(kCall), ElementsAre("native_batch_norm_backward"));
}

TEST(NormalizationGradients, AGroupNormKeepsItsStatistics) {
  constexpr std::string_view kCall = "aten::group_norm(%p, 2, %a, %b)";
  EXPECT_THAT(SavedOfImage(kCall),
              ElementsAre("p by NativeGroupNormBackward0", "a by NativeGroupNormBackward0",
                          " by NativeGroupNormBackward0", " by NativeGroupNormBackward0"));
  EXPECT_THAT(ImageBackwardOf(kCall), ElementsAre("native_group_norm_backward"));
}

// The operators of the backward pass of group_norm's results whose sum is `loss`.
std::vector<std::string> BackwardOfGroups(std::string_view loss) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[2,6,4]\nparameter %w: f32[6]\n%y, %m, %r = "
      "aten::native_group_norm(%p, %w, %w, 2, 6, 4, 3, 1e-05)\n%loss = " +
      std::string(loss) + "\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) out.emplace_back(kernels.op_name(node.op));
  }
  return out;
}

TEST(NormalizationGradients, StatisticsOfGroupsHaveGradientsOfTheirOwn) {
  // Nothing reaches weight and bias, whose gradients are zeros; the mean's is spread and divided.
  const std::vector<std::string> of_mean = BackwardOfGroups("aten::sum(%m)");
  EXPECT_THAT(of_mean, ::testing::Not(::testing::Contains("aten::native_group_norm_backward")));
  EXPECT_EQ(std::ranges::count(of_mean, "aten::zeros"), 2);
  EXPECT_EQ(std::ranges::count(of_mean, "aten::div.Tensor"), 1);
  // Half the deviation's times its cube.
  const std::vector<std::string> of_deviation = BackwardOfGroups("aten::sum(%r)");
  EXPECT_EQ(std::ranges::count(of_deviation, "aten::mul.Tensor"), 1 + 3 + 2);
}

}  // namespace
}  // namespace steelyard
