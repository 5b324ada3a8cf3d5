// SPDX-License-Identifier: Apache-2.0

#include "pass/decompose.h"

#include <gtest/gtest.h>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

TEST(Decompose, GivesAValidProgramOfKernels) {
  const Result<Program> program = ParseText(
      "parameter %w: f32[5,8]\ninput %x: f32[2,3,8]\n%y: f32[2,3,5] = aten::linear(%x, %w)\nreturn "
      "%y\n",
      "t");
  ASSERT_TRUE(program);
  const Result<Program> kernels = Decompose(*program, Target{});
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_TRUE(Verify(*kernels));
  for (const Node& node : kernels->main().nodes) {
    const OpDef* def = FindOp(OpName::FromRuntime(kernels->op_name(node.op)));
    EXPECT_TRUE(def == nullptr || def->is_kernel());
  }
}

}  // namespace
}  // namespace steelyard
