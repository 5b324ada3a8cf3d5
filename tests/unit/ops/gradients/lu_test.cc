// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/lu.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

std::vector<std::string> BackwardOf(const std::string& matrix, const std::string& call) {
  const Program kernels =
      KernelsOfProgram("parameter %a: " + matrix + "\n" + call +
                       "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\n"
                       "return %loss\n");
  std::vector<std::string> names;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) names.emplace_back(kernels.op_name(node.op));
  }
  return names;
}

TEST(LuGradients, BothFactorsAreSolvedBy) {
  const auto names = BackwardOf("f32[3,3]", "%p, %l, %y = aten::linalg_lu(%a)\n");
  EXPECT_THAT(names, Contains("aten::linalg_solve_triangular").Times(2));
  EXPECT_THAT(names, Contains("aten::mm").Times(2));  // U's own and the permutation
}

TEST(LuGradients, WhatTheLossDoesNotReadIsZeros) {
  // L of a wide matrix knows nothing of its last columns.
  EXPECT_THAT(BackwardOf("f32[3,5]", "%p, %y, %u = aten::linalg_lu(%a)\n"),
              Contains("aten::cat").Times(1));
  EXPECT_THAT(BackwardOf("f32[3,5]", "%y, %pivots = aten::linalg_lu_factor(%a)\n"),
              Contains("aten::linalg_solve_triangular").Times(2));
}

}  // namespace
}  // namespace steelyard
