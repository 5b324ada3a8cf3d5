// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/network.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

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
