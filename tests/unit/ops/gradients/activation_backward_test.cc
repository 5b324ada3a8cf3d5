// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/activation_backward.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(ActivationBackwardGradients, OfTheGradientItIsTheSameKernelAgain) {
  EXPECT_THAT(BackwardOf("aten::tanh_backward(%p, %x)"), ElementsAre("tanh_backward"));
  EXPECT_THAT(BackwardOf("aten::gelu_backward(%p, %x)"), ElementsAre("gelu_backward"));
}

// Whichever gradient is wanted, as none is asked for.
TEST(ActivationBackwardGradients, AllThatAnyFormulaNeedsIsSaved) {
  EXPECT_THAT(SavedIn("aten::threshold_backward(%x, %p, 0)"),
              ElementsAre("p by ThresholdBackwardBackward0"));
  EXPECT_THAT(SavedIn("aten::tanh_backward(%p, %x)"),
              ElementsAre("p by TanhBackwardBackward0", "x by TanhBackwardBackward0"));
}

TEST(ActivationBackwardGradients, SecondDerivativesAreProducts) {
  EXPECT_THAT(BackwardOf("aten::tanh_backward(%x, %p)"),
              ElementsAre("box", "mul.Tensor", "mul.Tensor", "mul.Tensor"));
  EXPECT_THAT(BackwardOf("aten::hardtanh_backward(%x, %p, 0, 6)"), ElementsAre("zeros_like"));
}

}  // namespace
}  // namespace steelyard
