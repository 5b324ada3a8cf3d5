// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/special_functions.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(SpecialFunctionGradients, TheErrorFunctionHasABell) {
  EXPECT_THAT(BackwardOf("aten::erf(%p)"),
              ElementsAre("pow.Tensor_Scalar", "neg", "exp", "box", "mul.Tensor", "mul.Tensor"));
}

TEST(SpecialFunctionGradients, FollowTheirFormulas) {
  // -(1 + log x)
  EXPECT_THAT(BackwardOf("aten::special_entr(%p)"),
              ElementsAre("log", "box", "add.Tensor", "neg", "mul.Tensor"));
  // (i1e - sgn * result)
  EXPECT_THAT(BackwardOf("aten::special_i0e(%p)"),
              ElementsAre("sgn", "mul.Tensor", "special_i1e", "sub.Tensor", "mul.Tensor"));
}

TEST(SpecialFunctionGradients, ABesselFunctionOfOrderOneHasTheOneOfOrderZero) {
  EXPECT_THAT(BackwardOf("aten::special_bessel_j0(%p)"),
              ElementsAre("special_bessel_j1", "neg", "mul.Tensor"));
  // Infinite at zero.
  EXPECT_THAT(BackwardOf("aten::special_bessel_y1(%p)"),
              ElementsAre("reciprocal", "mul.Tensor", "special_bessel_y0", "sub.Tensor",
                          "scalar_tensor", "eq.Scalar", "where.self", "mul.Tensor"));
}

TEST(SpecialFunctionGradients, ADerivativeOfDigammaHasTheNext) {
  EXPECT_THAT(BackwardOf("aten::polygamma(1, %p)"), ElementsAre("polygamma", "mul.Tensor"));
}

TEST(SpecialFunctionGradients, OnlyTheSecondOperandOfZetaHasOne) {
  EXPECT_THAT(BackwardOf("aten::special_zeta(%x, %p)"),
              ElementsAre("box", "add.Tensor", "special_zeta", "neg", "mul.Tensor", "mul.Tensor"));
}

}  // namespace
}  // namespace steelyard
