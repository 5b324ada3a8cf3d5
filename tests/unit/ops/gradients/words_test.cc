// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/words.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GradientWords, ABroadcastOperandGetsASum) {
  EXPECT_THAT(BackwardOf("aten::expand(%p, [3,4,8])"), Contains("sum.dim_IntList"));
}

TEST(GradientWords, ANumberOfOneDoesNotMultiply) {
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%x, %p)"), ElementsAre("new_empty_strided", "copy_"));
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%x, %p, alpha=2)"), Contains("mul.Tensor"));
}

}  // namespace
}  // namespace steelyard
