// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/loss_backward.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(LossBackwardGradients, MeansAreDividedByTheirTerms) {
  EXPECT_THAT(BackwardOf("aten::mse_loss_backward(%x, %p, %x, 1)"), Contains("div_.Tensor"));
  EXPECT_THAT(BackwardOf("aten::mse_loss_backward(%x, %p, %x, 2)"), Not(Contains("div_.Tensor")));
}

TEST(LossBackwardGradients, OfTheTargetItIsTheOpposite) {
  EXPECT_THAT(BackwardOf("aten::huber_loss_backward(%x, %x, %p, 0, 1.0)"), Contains("neg"));
}

}  // namespace
}  // namespace steelyard
