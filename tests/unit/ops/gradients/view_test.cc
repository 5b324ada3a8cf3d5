// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/view.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ViewGradients, ViewsAreViewedBack) {
  EXPECT_THAT(BackwardOf("aten::t(%p)").front(), "t");
  EXPECT_THAT(BackwardOf("aten::unsqueeze(%p, 0)").front(), "squeeze.dim");
  EXPECT_THAT(SavedIn("aten::permute(%p, [1,0])"), IsEmpty());
}

TEST(ViewGradients, ASliceIsZeroElsewhere) {
  EXPECT_THAT(BackwardOf("aten::slice.Tensor(%p, 0, 1, 3)"), ElementsAre("slice_backward"));
}

TEST(ViewGradients, PartsOfACatAreSlices) {
  EXPECT_THAT(BackwardOf("aten::cat([%p, %q], 1)"),
              ElementsAre("slice.Tensor", "slice.Tensor", "new_empty_strided", "copy_",
                          "new_empty_strided", "copy_"));
}

}  // namespace
}  // namespace steelyard
