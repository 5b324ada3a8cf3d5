// SPDX-License-Identifier: Apache-2.0
#include "session/call_weights.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(CallWeights, ACallIsWeighedByItsRow) {
  CallWeights weights(*FindConvention("torch"));
  const auto& work = weights.Of({.text = "aten::mm(f32[2,3], f32[3,4])", .complete = true});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->macs, 2 * 3 * 4);
}

TEST(CallWeights, ASparseGradientNeedsNoBackwardPass) {
  CallWeights weights(*FindConvention("torch"));
  const auto& work = weights.Of(
      {.text = "aten::_embedding_bag_backward(f32[4,16], i64[20], i64[4], i64[20], i64[4], i64[4], "
               "100, False, 1, True, None, -1)",
       .complete = true});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->macs, 0);
}

TEST(CallWeights, WhatNobodyKnowsHasNone) {
  CallWeights weights(*FindConvention("torch"));
  EXPECT_FALSE(weights.Of({.text = "custom::op(f32[2])", .complete = true}));
  EXPECT_FALSE(weights.Of({.text = "aten::mm", .complete = false}));
}

}  // namespace
}  // namespace steelyard
