// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/words.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GradientWords, ABroadcastOperandGetsASum) {
  EXPECT_THAT(BackwardOf("aten::expand(%p, [3,4,8])"), Contains("sum.dim_IntList"));
}

TEST(GradientWords, ANumberOfOneDoesNotMultiply) {
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%x, %p)"), ElementsAre("new_empty_strided", "copy_"));
  EXPECT_THAT(BackwardOf("aten::add.Tensor(%x, %p, alpha=2)"), Contains("mul.Tensor"));
}

TEST(GradientWords, WhatPyTorchDoesNotDifferentiateIsRefused) {
  const Result<Program> program = ParseText(StepOf("aten::floor_divide(%p, %x)"), "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("no derivative of aten::floor_divide"));
}

}  // namespace
}  // namespace steelyard
