// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/lu.h"

#include <gmock/gmock.h>

#include <string>

#include "matrix_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

TEST(LuGradients, BothFactorsAreSolvedBy) {
  const auto names = BackwardOfMatrix("f32[3,3]", "%p, %l, %y = aten::linalg_lu(%a)\n");
  EXPECT_THAT(names, Contains("aten::linalg_solve_triangular").Times(2));
  EXPECT_THAT(names, Contains("aten::mm").Times(2));  // U's own and the permutation
}

TEST(LuGradients, WhatTheLossDoesNotReadIsZeros) {
  // L of a wide matrix knows nothing of its last columns.
  EXPECT_THAT(BackwardOfMatrix("f32[3,5]", "%p, %y, %u = aten::linalg_lu(%a)\n"),
              Contains("aten::cat").Times(1));
  EXPECT_THAT(BackwardOfMatrix("f32[3,5]", "%y, %pivots = aten::linalg_lu_factor(%a)\n"),
              Contains("aten::linalg_solve_triangular").Times(2));
}

TEST(LuGradients, FactorsThatWereSolvedByAreSolvedByAgain) {
  const auto solve = [](const std::string& sides) {
    return BackwardOfMatrix("f32[3,3]",
                            "%pivots = aten::arange(3, dtype=i32)\n%b = aten::ones([3, 3])\n"
                            "%y = aten::linalg_lu_solve(%a, %pivots, %b" +
                                sides + ")\n");
  };
  EXPECT_THAT(solve(""), Contains("aten::linalg_solve_triangular").Times(2));
  EXPECT_THAT(solve(""), Contains("aten::mm").Times(2));
  // With the permutation on both sides, and L on one.
  EXPECT_THAT(solve(", adjoint=True"), Contains("aten::mm").Times(2 + 1 + 1));
  EXPECT_THAT(solve(", left=False, adjoint=True"), Contains("aten::mm").Times(2));
}

}  // namespace
}  // namespace steelyard
