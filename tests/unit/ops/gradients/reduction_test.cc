// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/reduction.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>

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

// How often the gradients of the smallest and the largest elements are added in place.
std::ptrdiff_t AdditionsOfExtremes(std::string_view loss) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\n%u, %v = aten::aminmax(%p, dim=1)\n" + std::string(loss) +
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  return std::ranges::count_if(kernels.main().nodes, [&](const Node& node) {
    return kernels.op_name(node.op) == "aten::add_.Tensor";
  });
}

TEST(ReductionGradients, BothExtremesAddUp) {
  EXPECT_EQ(AdditionsOfExtremes("%w = aten::add.Tensor(%u, %v)\n%loss = aten::sum(%w)\n"), 1);
  EXPECT_EQ(AdditionsOfExtremes("%loss = aten::sum(%v)\n"), 0);
}

TEST(ReductionGradients, ALogarithmOfSumsIsOneFromTheEnd) {
  const std::vector<std::string> steps = BackwardOf("aten::logcumsumexp(%p, 1)");
  // Of positive and of negative gradients apart, each turned round twice.
  EXPECT_EQ(std::ranges::count(steps, "flip"), 2 * 2);
  EXPECT_EQ(std::ranges::count(steps, "_logcumsumexp"), 2);
  EXPECT_THAT(SavedIn("aten::logcumsumexp(%p, 1)"),
              ElementsAre("p by LogcumsumexpBackward0", "y by LogcumsumexpBackward0"));
}

TEST(ReductionGradients, ASumFromTheFrontIsOneFromTheEnd) {
  EXPECT_THAT(BackwardOf("aten::cumsum(%p, 1)"), ElementsAre("flip", "cumsum", "flip"));
  EXPECT_THAT(SavedIn("aten::cumsum(%p, 1)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
