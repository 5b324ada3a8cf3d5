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

}  // namespace
}  // namespace steelyard
