// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/network.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NetworkGradients, ActivationsSaveOperandOrResult) {
  EXPECT_THAT(SavedIn("aten::gelu(%p)"), ElementsAre("p by GeluBackward0"));
  EXPECT_THAT(SavedIn("aten::tanh(%p)"), ElementsAre("y by TanhBackward0"));
  EXPECT_THAT(BackwardOf("aten::silu(%p)"), ElementsAre("silu_backward"));
  EXPECT_THAT(BackwardOf("aten::elu(%p)"), ElementsAre("elu_backward"));
}

TEST(NetworkGradients, WhatOverwritesItsOperandSavesTheResult) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\n%c = aten::clone(%p)\n%y = aten::elu_(%c)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  ASSERT_EQ(kernels.saved.size(), 1u);
  EXPECT_EQ(kernels.text(kernels.values[kernels.saved[0].value].name), "y");
  EXPECT_EQ(kernels.text(kernels.saved[0].by), "EluBackward1");
}

TEST(NetworkGradients, AGatedHalfSavesTheWhole) {
  EXPECT_THAT(SavedIn("aten::glu(%p)"), ElementsAre("p by GluBackward0"));
  EXPECT_THAT(BackwardOf("aten::glu(%p)"), ElementsAre("glu_backward"));
}

TEST(NetworkGradients, AnEmbeddingSavesItsIds) {
  EXPECT_THAT(SavedIn("aten::embedding(%p, %i)"), ElementsAre("i by EmbeddingBackward0"));
  EXPECT_THAT(BackwardOf("aten::embedding(%p, %i)"), ElementsAre("embedding_dense_backward"));
}

TEST(NetworkGradients, LossesKeepWhatTheyCompare) {
  EXPECT_THAT(SavedIn("aten::mse_loss(%p, %x)"),
              ElementsAre("p by MseLossBackward0", "x by MseLossBackward0"));
}

TEST(NetworkGradients, ALossOfLogitsIsDividedInPlace) {
  EXPECT_THAT(BackwardOf("aten::binary_cross_entropy_with_logits(%p, %x)"),
              ElementsAre("sigmoid", "sub_.Tensor", "mul_.Tensor", "box", "div_.Tensor"));
  EXPECT_THAT(BackwardOf("aten::binary_cross_entropy_with_logits(%x, %p, None, None, 2)"),
              ElementsAre("neg", "mul.Tensor"));
}

TEST(NetworkGradients, ALossOfPairsIsTheSameFromEitherSide) {
  EXPECT_THAT(BackwardOf("aten::smooth_l1_loss(%p, %q)"),
              ElementsAre("smooth_l1_loss_backward", "smooth_l1_loss_backward"));
  EXPECT_THAT(BackwardOf("aten::huber_loss(%p, %x)"), ElementsAre("huber_loss_backward"));
}

}  // namespace
}  // namespace steelyard
