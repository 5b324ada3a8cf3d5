// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/factory.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FactoryGradients, WhatWasOverwrittenHasAGradientOfZeros) {
  EXPECT_THAT(BackwardOf("aten::fill.Scalar(%p, 1.0)"), ElementsAre("zeros_like"));
  EXPECT_THAT(BackwardOf("aten::bernoulli(%p)"), ElementsAre("zeros_like"));
  EXPECT_THAT(SavedIn("aten::bernoulli(%p)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
