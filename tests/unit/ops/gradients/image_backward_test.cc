// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/image_backward.h"

#include <gmock/gmock.h>

#include "../image_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ImageBackwardGradients, OfAnAverageItIsTheAverageAgain) {
  EXPECT_THAT(ImageBackwardOf("aten::avg_pool2d_backward(%p, %p, [1,1], [1,1], [0,0], False, "
                              "True, None)"),
              Contains("avg_pool2d"));
}

TEST(ImageBackwardGradients, OfOtherSizesItIsTheForwardOperator) {
  EXPECT_THAT(ImageBackwardOf("aten::reflection_pad2d_backward(%p, %p, [0,0,0,0])"),
              Contains("reflection_pad2d"));
}

}  // namespace
}  // namespace steelyard
