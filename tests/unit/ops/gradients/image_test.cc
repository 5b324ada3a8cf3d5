// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/image.h"

#include <gmock/gmock.h>

#include "../image_steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ImageGradients, PoolsKeepTheirImage) {
  EXPECT_THAT(
      SavedOfImage("aten::max_pool2d(%p, [2,2])"),
      ElementsAre("p by MaxPool2DWithIndicesBackward0", " by MaxPool2DWithIndicesBackward0"));
  EXPECT_THAT(ImageBackwardOf("aten::max_pool2d(%p, [2,2])"),
              ElementsAre("max_pool2d_with_indices_backward"));
  EXPECT_THAT(SavedOfImage("aten::avg_pool2d(%p, [2,2])"), ElementsAre("p by AvgPool2DBackward0"));
  EXPECT_THAT(ImageBackwardOf("aten::avg_pool2d(%p, [2,2])"), ElementsAre("avg_pool2d_backward"));
  EXPECT_THAT(ImageBackwardOf("aten::adaptive_avg_pool2d(%p, [3,3])"),
              ElementsAre("_adaptive_avg_pool2d_backward"));
}

TEST(ImageGradients, OfOtherSizesOnlySizesAreNeeded) {
  constexpr std::string_view kCall = "aten::upsample_bilinear2d(%p, [16,16], False)";
  EXPECT_THAT(SavedOfImage(kCall), IsEmpty());
  EXPECT_THAT(ImageBackwardOf(kCall), ElementsAre("upsample_bilinear2d_backward"));
}

TEST(ImageGradients, BordersAreCutOff) {
  EXPECT_THAT(SavedOfImage("aten::constant_pad_nd(%p, [1,1])"), IsEmpty());
  EXPECT_THAT(ImageBackwardOf("aten::constant_pad_nd(%p, [1,1])"),
              ElementsAre("narrow", "narrow", "clone"));
  EXPECT_THAT(SavedOfImage("aten::reflection_pad2d(%p, [1,1,1,1])"),
              ElementsAre("p by ReflectionPad2DBackward0"));
}

TEST(ImageGradients, CopiesAreSummed) {
  // Two copies side by side of the last dimension, one in front of the first.
  EXPECT_THAT(ImageBackwardOf("aten::repeat(%p, [3,1,1,1,2])"),
              ElementsAre("sum.dim_IntList", "view", "sum.dim_IntList"));
  EXPECT_THAT(ImageBackwardOf("aten::repeat(%p, [1,1,1,1])"), IsEmpty());
}

TEST(ImageGradients, OrdersAreUndone) {
  EXPECT_THAT(ImageBackwardOf("aten::flip(%p, [0])"), ElementsAre("flip"));
  EXPECT_THAT(ImageBackwardOf("aten::roll(%p, [1], [3])"), ElementsAre("narrow", "narrow", "cat"));
}

}  // namespace
}  // namespace steelyard
