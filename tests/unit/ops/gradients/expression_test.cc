// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/expression.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// grad * (z - 1) * z with z = sigmoid(p), after grad * grad_output: what stands on the right is
// computed first, and what was computed on the way goes at the end, last first.
TEST(Expression, TemporariesLiveUntilTheWholeIsKnown) {
  EXPECT_THAT(
      BackwardOf("aten::log_sigmoid_backward(%x, %p, %x)"),
      ElementsAre("mul.Tensor", "sigmoid", "box", "sub.Tensor", "mul.Tensor", "mul.Tensor"));
}

// The tensor is filled with the number, and overwritten.
TEST(Expression, ANumberOnTheLeftOfAMinusIsATensorFirst) {
  EXPECT_THAT(BackwardOf("aten::binary_cross_entropy_backward(%x, %p, %x)"),
              testing::Contains("fill_.Scalar"));
}

}  // namespace
}  // namespace steelyard
