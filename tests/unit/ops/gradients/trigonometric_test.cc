// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/trigonometric.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(TrigonometricGradients, AnInverseSineIsDividedByTheRootOfTheRest) {
  // neg(x) * x + 1, its reciprocal root, times the gradient; the one is boxed.
  EXPECT_THAT(BackwardOf("aten::asin(%p)"),
              ElementsAre("neg", "mul.Tensor", "box", "add.Tensor", "rsqrt", "mul.Tensor"));
  EXPECT_THAT(SavedIn("aten::asin(%p)"), ElementsAre("p by AsinBackward0"));
}

TEST(TrigonometricGradients, HyperbolicFunctionsAreEachOthers) {
  EXPECT_THAT(BackwardOf("aten::sinh(%p)"), ElementsAre("cosh", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::cosh(%p)"), ElementsAre("sinh", "mul.Tensor"));
}

TEST(TrigonometricGradients, BothAnglesAreComputedFromOneNorm) {
  EXPECT_THAT(BackwardOf("aten::atan2(%p, %x)"),
              ElementsAre("mul.Tensor", "mul.Tensor", "add.Tensor", "reciprocal", "eq.Scalar",
                          "masked_fill_.Scalar", "mul.Tensor", "mul.Tensor"));
}

TEST(TrigonometricGradients, ALengthSavesItsResultAndWhatIsWanted) {
  EXPECT_THAT(SavedIn("aten::hypot(%p, %x)"),
              ElementsAre("p by HypotBackward0", "y by HypotBackward0"));
  EXPECT_THAT(BackwardOf("aten::hypot(%p, %x)"), ElementsAre("mul.Tensor", "div.Tensor"));
}

TEST(TrigonometricGradients, AFunctionInPlaceSavesWhatItOverwrote) {
  EXPECT_THAT(BackwardOf("aten::clone(%p)\n%z = aten::sin_(%y)"), Contains("cos"));
}

}  // namespace
}  // namespace steelyard
