// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/reduction.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReductionGradients, AMeanIsDivided) {
  EXPECT_THAT(BackwardOf("aten::mean.dim(%p, [1], True)"),
              ElementsAre("expand", "box", "div.Tensor"));
}

TEST(ReductionGradients, SoftmaxSavesItsResult) {
  EXPECT_THAT(SavedIn("aten::_softmax(%p, -1, False)"), ElementsAre("y by SoftmaxBackward0"));
  EXPECT_THAT(BackwardOf("aten::_softmax(%p, -1, False)"), ElementsAre("_softmax_backward_data"));
}

TEST(ReductionGradients, AProductIsDividedByItsFactors) {
  // Zeros are looked for first.
  EXPECT_THAT(BackwardOf("aten::prod(%p)"), ElementsAre("eq.Scalar", "div.Tensor", "mul.Tensor"));
  EXPECT_THAT(SavedIn("aten::prod(%p)"), ElementsAre("p by ProdBackward0", "y by ProdBackward0"));
}

TEST(ReductionGradients, EquallyLargeElementsShareTheGradient) {
  EXPECT_THAT(BackwardOf("aten::amax(%p, [1], True)"),
              ElementsAre("eq.Tensor", "sum.dim_IntList", "div.Tensor", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::max(%p)"),
              ElementsAre("ne.Tensor", "eq.Tensor", "new_zeros", "sum.dim_IntList", "div.Tensor",
                          "masked_fill_.Tensor"));
}

TEST(ReductionGradients, ANormHasAFormulaForEachOrder) {
  EXPECT_THAT(BackwardOf("aten::linalg_vector_norm(%p, 1, [1], True)"),
              ElementsAre("sgn", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::linalg_vector_norm(%p, 2, [1], True)"),
              ElementsAre("div.Tensor", "eq.Scalar", "masked_fill_.Scalar", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::linalg_vector_norm(%p, 3, [1], True)"),
              ElementsAre("abs", "pow_.Scalar", "mul.Tensor", "pow.Tensor_Scalar", "div.Tensor",
                          "eq.Scalar", "masked_fill_.Scalar", "mul.Tensor"));
}

TEST(ReductionGradients, ASumFromTheFrontIsOneFromTheEnd) {
  EXPECT_THAT(BackwardOf("aten::cumsum(%p, 1)"), ElementsAre("flip", "cumsum", "flip"));
  EXPECT_THAT(SavedIn("aten::cumsum(%p, 1)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
