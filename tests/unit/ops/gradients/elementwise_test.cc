// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/elementwise.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ElementwiseGradients, AddPassesOneGradientToBoth) {
  // It is expanded, so each parameter gets a copy.
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%p, %q)"),
              ElementsAre("new_empty_strided", "copy_", "new_empty_strided", "copy_"));
  EXPECT_THAT(SavedIn("aten::add.Tensor(%p, %q)"), IsEmpty());
}

TEST(ElementwiseGradients, AProductSavesTheOtherFactorWhereItIsNeeded) {
  EXPECT_THAT(SavedIn("aten::mul.Tensor(%p, %q)"),
              ElementsAre("q by MulBackward0", "p by MulBackward0"));
  EXPECT_THAT(SavedIn("aten::mul.Tensor(%p, %x)"), ElementsAre("x by MulBackward0"));
  EXPECT_THAT(BackwardOf("aten::mul.Tensor(%p, %q)"), ElementsAre("mul.Tensor", "mul.Tensor"));
}

TEST(ElementwiseGradients, AQuotientComputesTheDivisorFirst) {
  EXPECT_THAT(BackwardOf("aten::div.Tensor(%p, %q)"),
              ElementsAre("div.Tensor", "div.Tensor", "neg", "mul.Tensor", "div.Tensor"));
}

TEST(ElementwiseGradients, SomeSaveTheirResult) {
  EXPECT_THAT(SavedIn("aten::exp(%p)"), ElementsAre("y by ExpBackward0"));
  EXPECT_THAT(SavedIn("aten::log(%p)"), ElementsAre("p by LogBackward0"));
  EXPECT_THAT(BackwardOf("aten::exp(%p)"), ElementsAre("mul.Tensor"));
}

TEST(ElementwiseGradients, TheErrorFunctionHasABell) {
  EXPECT_THAT(BackwardOf("aten::erf(%p)"),
              ElementsAre("pow.Tensor_Scalar", "neg", "exp", "box", "mul.Tensor", "mul.Tensor"));
}

TEST(ElementwiseGradients, AReciprocalRootComputesItsCubeFirst) {
  EXPECT_THAT(BackwardOf("aten::rsqrt(%p)").front(), "pow.Tensor_Scalar");
}

TEST(ElementwiseGradients, AClampPassesTheGradientBetweenItsLimits) {
  EXPECT_THAT(BackwardOf("aten::clamp(%p, -1.0, 1.0)"),
              ElementsAre("scalar_tensor", "gt.Scalar", "lt.Scalar", "logical_and_", "where.self"));
  EXPECT_THAT(BackwardOf("aten::clamp_max(%p, 1.0)"),
              ElementsAre("scalar_tensor", "lt.Scalar", "where.self"));
}

TEST(ElementwiseGradients, EqualOperandsOfAMaximumShareTheGradient) {
  EXPECT_THAT(BackwardOf("aten::maximum(%p, %x)"),
              ElementsAre("lt.Tensor", "box", "div.Tensor", "eq.Tensor", "where.self",
                          "masked_fill_.Scalar"));
  EXPECT_THAT(SavedIn("aten::maximum(%p, %x)"),
              ElementsAre("x by MaximumBackward0", "p by MaximumBackward0"));
}

TEST(ElementwiseGradients, APowerOfTensorsSavesAllThree) {
  EXPECT_THAT(SavedIn("aten::pow.Tensor_Tensor(%p, %q)"),
              ElementsAre("q by PowBackward1", "p by PowBackward1", "y by PowBackward1"));
}

TEST(ElementwiseGradients, ARoundedQuotientIsAStep) {
  EXPECT_THAT(BackwardOf("aten::div.Tensor_mode(%p, %x, rounding_mode='floor')"),
              ElementsAre("zeros_like"));
  EXPECT_THAT(BackwardOf("aten::div.Tensor_mode(%p, %x, rounding_mode=None)"),
              ElementsAre("div.Tensor"));
}

TEST(ElementwiseGradients, BothAnglesAreComputedFromOneNorm) {
  EXPECT_THAT(BackwardOf("aten::atan2(%p, %x)"),
              ElementsAre("mul.Tensor", "mul.Tensor", "add.Tensor", "reciprocal", "eq.Scalar",
                          "masked_fill_.Scalar", "mul.Tensor", "mul.Tensor"));
}

TEST(ElementwiseGradients, AProductThatIsAddedSavesTheFactorsThatAreNeeded) {
  EXPECT_THAT(SavedIn("aten::addcmul_(%x, %p, %q)"),
              ElementsAre("p by AddcmulBackward0", "q by AddcmulBackward0"));
}

}  // namespace
}  // namespace steelyard
