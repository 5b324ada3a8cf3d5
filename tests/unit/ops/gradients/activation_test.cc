// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/activation.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(ActivationGradients, ActivationsSaveOperandOrResult) {
  EXPECT_THAT(SavedIn("aten::gelu(%p)"), ElementsAre("p by GeluBackward0"));
  EXPECT_THAT(SavedIn("aten::tanh(%p)"), ElementsAre("y by TanhBackward0"));
  EXPECT_THAT(BackwardOf("aten::silu(%p)"), ElementsAre("silu_backward"));
  EXPECT_THAT(BackwardOf("aten::elu(%p)"), ElementsAre("elu_backward"));
}

TEST(ActivationGradients, WhatOverwritesItsOperandSavesTheResult) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\n%c = aten::clone(%p)\n%y = aten::elu_(%c)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  ASSERT_EQ(kernels.saved.size(), 1u);
  EXPECT_EQ(kernels.text(kernels.values[kernels.saved[0].value].name), "y");
  EXPECT_EQ(kernels.text(kernels.saved[0].by), "EluBackward1");
}

TEST(ActivationGradients, AGatedHalfSavesTheWhole) {
  EXPECT_THAT(SavedIn("aten::glu(%p)"), ElementsAre("p by GluBackward0"));
  EXPECT_THAT(BackwardOf("aten::glu(%p)"), ElementsAre("glu_backward"));
}

TEST(ActivationGradients, ARectifierWithSlopesHasOneKernelForBoth) {
  EXPECT_THAT(BackwardOf("aten::_prelu_kernel(%p, %q)"), ElementsAre("_prelu_kernel_backward"));
}

}  // namespace
}  // namespace steelyard
