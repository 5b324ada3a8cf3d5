// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Rois, GiveBinsForEachBox) {
  EXPECT_EQ(ResultOf("torchvision::roi_align(f32[1,3,8,8], f32[2,5], 1.0, 4, 6, 2, False)"),
            "f32[2,3,4,6]");
  EXPECT_EQ(ResultOf("torchvision::ps_roi_align(f32[1,12,8,8], f32[2,5], 1.0, 2, 2, 2)"),
            "f32[2,3,2,2]");
}

TEST(DeformableConvolution, CountsAsAConvolution) {
  constexpr std::string_view kCall =
      "torchvision::deform_conv2d(f32[2,4,8,8], f32[6,4,3,3], f32[2,18,8,8], f32[2,9,8,8], f32[6], "
      "1, 1, 1, 1, 1, 1, 1, 1, True)";
  EXPECT_EQ(ResultOf(kCall), "f32[2,6,8,8]");
  EXPECT_EQ(WorkOf(kCall).mac, Count(2 * 6 * 8 * 8 * 4 * 3 * 3));
}

}  // namespace
}  // namespace steelyard
