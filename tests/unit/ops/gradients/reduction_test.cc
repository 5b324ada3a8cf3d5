// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/reduction.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReductionGradients, AMeanIsDivided) {
  EXPECT_THAT(BackwardOf("aten::mean.dim(%p, [1], True)"),
              ElementsAre("expand", "box", "div.Tensor"));
}

TEST(ReductionGradients, SoftmaxSavesItsResult) {
  EXPECT_THAT(SavedIn("aten::_softmax(%p, -1, False)"), ElementsAre("y by SoftmaxBackward0"));
  EXPECT_THAT(BackwardOf("aten::_softmax(%p, -1, False)"), ElementsAre("_softmax_backward_data"));
}

}  // namespace
}  // namespace steelyard
