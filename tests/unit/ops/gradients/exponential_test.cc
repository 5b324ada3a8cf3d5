// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/exponential.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(ExponentialGradients, SomeSaveTheirResult) {
  EXPECT_THAT(SavedIn("aten::exp(%p)"), ElementsAre("y by ExpBackward0"));
  EXPECT_THAT(SavedIn("aten::log(%p)"), ElementsAre("p by LogBackward0"));
  EXPECT_THAT(BackwardOf("aten::exp(%p)"), ElementsAre("mul.Tensor"));
}

TEST(ExponentialGradients, AnExponentialOfASumSharesByTheDifference) {
  // grad / (1 + exp(other - self)); the one is boxed.
  EXPECT_THAT(BackwardOf("aten::logaddexp(%p, %x)"),
              ElementsAre("sub.Tensor", "exp", "box", "add.Tensor", "div.Tensor"));
}

}  // namespace
}  // namespace steelyard
