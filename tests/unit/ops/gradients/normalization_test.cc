// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/normalization.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace steelyard
