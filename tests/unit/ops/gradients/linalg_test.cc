// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/linalg.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LinalgGradients, AColumnMajorFactorGetsAColumnMajorGradient) {
  // The transposed weight: (grad^T x)^T, which arrives in the layout of the weight.
  EXPECT_THAT(BackwardOf("aten::linear(%x, %p)"), ElementsAre("t", "mm", "t", "t"));
}

TEST(LinalgGradients, AProductSavesTheFactorsThatAreNeeded) {
  EXPECT_THAT(SavedIn("aten::linear(%x, %p)"), ElementsAre("x by MmBackward0"));
}

}  // namespace
}  // namespace steelyard
