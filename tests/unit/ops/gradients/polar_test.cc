// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/polar.h"

#include <gmock/gmock.h>

#include "matrix_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

TEST(PolarGradients, ARootsIsSolvedInItsEigenvectors) {
  const auto nodes = BackwardOfMatrix("f32[3,3]", "%y = aten::linalg_matrix_sqrth(%a)\n");
  EXPECT_THAT(nodes, Contains("aten::mm").Times(4));
  EXPECT_THAT(nodes, Contains("aten::div.Tensor").Times(1));
  EXPECT_THAT(nodes, Contains("aten::sqrt").Times(1));
}

// One equation for each factor that is used; what lies beside the orthonormal one's columns has
// products of its own.
TEST(PolarGradients, EachFactorThatIsUsedHasAnEquation) {
  EXPECT_THAT(BackwardOfMatrix("f32[5,3]", "%u, %y = aten::linalg_polar(%a)\n"),
              Contains("aten::mm").Times(4 + 1));
  EXPECT_THAT(BackwardOfMatrix("f32[5,3]", "%y, %h = aten::linalg_polar(%a)\n"),
              Contains("aten::mm").Times(4 + 1 + 4));
}

}  // namespace
}  // namespace steelyard
