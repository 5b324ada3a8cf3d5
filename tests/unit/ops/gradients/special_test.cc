// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/special.h"

#include <gmock/gmock.h>

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

TEST(SpecialGradients, AFunctionInPlaceSavesWhatItOverwrote) {
  EXPECT_THAT(BackwardOf("aten::clone(%p)\n%z = aten::sin_(%y)"), Contains("cos"));
}

}  // namespace
}  // namespace steelyard
