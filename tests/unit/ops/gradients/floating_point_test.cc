// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/floating_point.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(FloatingPointGradients, ASignPassesTheRatioWhereThereIsOne) {
  EXPECT_THAT(SavedIn("aten::copysign.Tensor(%p, %x)"),
              ElementsAre("p by CopysignBackward0", "y by CopysignBackward0"));
  EXPECT_THAT(BackwardOf("aten::copysign.Tensor(%p, %x)"),
              ElementsAre("div.Tensor", "eq.Scalar", "masked_fill_.Scalar", "mul.Tensor"));
}

TEST(FloatingPointGradients, WhatOnlyGivesTheDirectionHasNone) {
  EXPECT_THAT(BackwardOf("aten::nextafter(%x, %p)"), ElementsAre("zeros"));
}

}  // namespace
}  // namespace steelyard
