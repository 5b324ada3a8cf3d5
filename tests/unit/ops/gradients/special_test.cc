// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/special.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SpecialGradients, AnInverseSineIsDividedByTheRootOfTheRest) {
  // neg(x) * x + 1, its reciprocal root, times the gradient; the one is boxed.
  EXPECT_THAT(BackwardOf("aten::asin(%p)"),
              ElementsAre("neg", "mul.Tensor", "box", "add.Tensor", "rsqrt", "mul.Tensor"));
  EXPECT_THAT(SavedIn("aten::asin(%p)"), ElementsAre("p by AsinBackward0"));
}

TEST(SpecialGradients, HyperbolicFunctionsAreEachOthers) {
  EXPECT_THAT(BackwardOf("aten::sinh(%p)"), ElementsAre("cosh", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::cosh(%p)"), ElementsAre("sinh", "mul.Tensor"));
}

TEST(SpecialGradients, ALengthSavesItsResultAndWhatIsWanted) {
  EXPECT_THAT(SavedIn("aten::hypot(%p, %x)"),
              ElementsAre("p by HypotBackward0", "y by HypotBackward0"));
  EXPECT_THAT(BackwardOf("aten::hypot(%p, %x)"), ElementsAre("mul.Tensor", "div.Tensor"));
}

TEST(SpecialGradients, ARemainderPassesTheGradientOn) {
  // It is expanded, so the parameter gets a copy.
  EXPECT_THAT(BackwardOf("aten::fmod.Scalar(%p, 3)"), ElementsAre("new_empty_strided", "copy_"));
  EXPECT_THAT(SavedIn("aten::fmod.Scalar(%p, 3)"), IsEmpty());
}

TEST(SpecialGradients, OfTwoNumbersTheChosenOneGetsTheGradient) {
  EXPECT_THAT(BackwardOf("aten::fmax(%p, %x)"), Contains("logical_or_"));
  EXPECT_THAT(BackwardOf("aten::fmax(%p, %x)"), Contains("logical_not_"));
}

TEST(SpecialGradients, ARectifierWithSlopesHasOneKernelForBoth) {
  EXPECT_THAT(BackwardOf("aten::_prelu_kernel(%p, %q)"), ElementsAre("_prelu_kernel_backward"));
}

TEST(SpecialGradients, ADerivativeOfDigammaHasTheNext) {
  EXPECT_THAT(BackwardOf("aten::polygamma(1, %p)"), ElementsAre("polygamma", "mul.Tensor"));
}

TEST(SpecialGradients, OneBoundSharesWhatItIsEqualTo) {
  // Of the bound first: none where it is passed, half where it is met.
  const std::vector<std::string> of_one = {"gt.Tensor", "box",        "div.Tensor",
                                           "eq.Tensor", "where.self", "masked_fill_.Scalar"};
  EXPECT_EQ(BackwardOf("aten::clamp.Tensor(%x, %p)"), of_one);
}

TEST(SpecialGradients, TwoBoundsAreComparedWithEachOther) {
  const std::vector<std::string> steps = BackwardOf("aten::clamp.Tensor(%p, %x, %x)");
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0], "lt.Tensor");
  EXPECT_THAT(steps, Contains("logical_or"));
  EXPECT_THAT(SavedIn("aten::clamp.Tensor(%p, %x, %q)"),
              ElementsAre("q by ClampBackward0", "x by ClampBackward0", "p by ClampBackward0"));
}

TEST(SpecialGradients, AFunctionInPlaceSavesWhatItOverwrote) {
  EXPECT_THAT(BackwardOf("aten::clone(%p)\n%z = aten::sin_(%y)"), Contains("cos"));
}

}  // namespace
}  // namespace steelyard
