// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/comparison.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ComparisonGradients, EqualOperandsOfAMaximumShareTheGradient) {
  EXPECT_THAT(BackwardOf("aten::maximum(%p, %x)"),
              ElementsAre("lt.Tensor", "box", "div.Tensor", "eq.Tensor", "where.self",
                          "masked_fill_.Scalar"));
  EXPECT_THAT(SavedIn("aten::maximum(%p, %x)"),
              ElementsAre("x by MaximumBackward0", "p by MaximumBackward0"));
}

TEST(ComparisonGradients, OfTwoNumbersTheChosenOneGetsTheGradient) {
  EXPECT_THAT(BackwardOf("aten::fmax(%p, %x)"), Contains("logical_or_"));
  EXPECT_THAT(BackwardOf("aten::fmax(%p, %x)"), Contains("logical_not_"));
}

}  // namespace
}  // namespace steelyard
