// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/power.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(PowerGradients, AReciprocalRootComputesItsCubeFirst) {
  EXPECT_THAT(BackwardOf("aten::rsqrt(%p)").front(), "pow.Tensor_Scalar");
}

TEST(PowerGradients, APowerOfTensorsSavesAllThree) {
  EXPECT_THAT(SavedIn("aten::pow.Tensor_Tensor(%p, %q)"),
              ElementsAre("q by PowBackward1", "p by PowBackward1", "y by PowBackward1"));
}

}  // namespace
}  // namespace steelyard
