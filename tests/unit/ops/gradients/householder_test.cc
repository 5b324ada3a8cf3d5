// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/householder.h"

#include <gmock/gmock.h>

#include <string>

#include "matrix_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

// A step by as many reflections as `tau` has factors.
std::vector<std::string> BackwardOfReflections(const std::string& matrix, const std::string& tau) {
  return BackwardOfMatrix(
      matrix, "%tau = aten::ones(" + tau + ")\n%y = aten::linalg_householder_product(%a, %tau)\n");
}

TEST(HouseholderGradients, EveryReflectionButTheLastIsAppliedTwice) {
  // From the left each, and from the right each that another one follows.
  EXPECT_THAT(BackwardOfReflections("f32[5,3]", "[3]"), Contains("aten::sub_.Tensor").Times(3 + 2));
  EXPECT_THAT(BackwardOfReflections("f32[5,3]", "[1]"), Contains("aten::sub_.Tensor").Times(1));
}

TEST(HouseholderGradients, EachHasProductsOfItsOwn) {
  // K itself; from the left 3, from the right 2, and 3 for each reflection's gradients.
  EXPECT_THAT(BackwardOfReflections("f32[5,3]", "[3]"),
              Contains("aten::mm").Times(1 + 3 + 2 + 3 * 3));
}

TEST(HouseholderGradients, NoReflectionsHaveNone) {
  EXPECT_THAT(BackwardOfReflections("f32[5,3]", "[0]"), Contains("aten::mm").Times(0));
}

}  // namespace
}  // namespace steelyard
