// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/arithmetic.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ArithmeticGradients, AddPassesOneGradientToBoth) {
  // It is expanded, so each parameter gets a copy.
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%p, %q)"),
              ElementsAre("new_empty_strided", "copy_", "new_empty_strided", "copy_"));
  EXPECT_THAT(SavedIn("aten::add.Tensor(%p, %q)"), IsEmpty());
}

TEST(ArithmeticGradients, AProductSavesTheOtherFactorWhereItIsNeeded) {
  EXPECT_THAT(SavedIn("aten::mul.Tensor(%p, %q)"),
              ElementsAre("q by MulBackward0", "p by MulBackward0"));
  EXPECT_THAT(SavedIn("aten::mul.Tensor(%p, %x)"), ElementsAre("x by MulBackward0"));
  EXPECT_THAT(BackwardOf("aten::mul.Tensor(%p, %q)"), ElementsAre("mul.Tensor", "mul.Tensor"));
}

TEST(ArithmeticGradients, AQuotientComputesTheDivisorFirst) {
  EXPECT_THAT(BackwardOf("aten::div.Tensor(%p, %q)"),
              ElementsAre("div.Tensor", "div.Tensor", "neg", "mul.Tensor", "div.Tensor"));
}

TEST(ArithmeticGradients, ARoundedQuotientIsAStep) {
  EXPECT_THAT(BackwardOf("aten::div.Tensor_mode(%p, %x, rounding_mode='floor')"),
              ElementsAre("zeros_like"));
  EXPECT_THAT(BackwardOf("aten::div.Tensor_mode(%p, %x, rounding_mode=None)"),
              ElementsAre("div.Tensor"));
}

TEST(ArithmeticGradients, ARemainderPassesTheGradientOn) {
  // It is expanded, so the parameter gets a copy.
  EXPECT_THAT(BackwardOf("aten::fmod.Scalar(%p, 3)"), ElementsAre("new_empty_strided", "copy_"));
  EXPECT_THAT(SavedIn("aten::fmod.Scalar(%p, 3)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
