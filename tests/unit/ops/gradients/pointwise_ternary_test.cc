// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/pointwise_ternary.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PointwiseTernaryGradients, AProductThatIsAddedSavesTheFactorsThatAreNeeded) {
  EXPECT_THAT(SavedIn("aten::addcmul_(%x, %p, %q)"),
              ElementsAre("p by AddcmulBackward0", "q by AddcmulBackward0"));
}

TEST(PointwiseTernaryGradients, AnInterpolationSavesItsWeightForItsEnds) {
  EXPECT_THAT(SavedIn("aten::lerp.Tensor(%x, %p, %q)"),
              ElementsAre("p by LerpBackward1", "x by LerpBackward1", "q by LerpBackward1"));
  EXPECT_THAT(SavedIn("aten::lerp.Scalar(%x, %p, 0.1)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
