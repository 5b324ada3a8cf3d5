// SPDX-License-Identifier: Apache-2.0
#include "ir/cache_layer.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

constexpr CacheLayer kAll{.heads = 2, .key_width = 8, .value_width = 8};
constexpr CacheLayer kWindow{.heads = 2, .key_width = 8, .value_width = 8, .window = 6};

TEST(CacheLayerTest, AWindowNeedsOneTokenLessBesidesTheNewest) {
  EXPECT_EQ(TokensHeld(kAll, 100), 100);
  EXPECT_EQ(TokensHeld(kWindow, 4), 4);
  EXPECT_EQ(TokensHeld(kWindow, 5), 6 - 1);
  EXPECT_EQ(TokensHeld(kWindow, 100), 6 - 1);
}

TEST(CacheLayerTest, AWindowOfOneTokenKeepsAll) {
  EXPECT_EQ(TokensHeld({.heads = 1, .key_width = 1, .value_width = 1, .window = 1}, 9), 9)
      << "keys[..., -1 + 1:, :] is all of them";
}

TEST(CacheLayerTest, WhatIsKeptIsAViewOfWhatAttentionWasGiven) {
  EXPECT_EQ(TokensStored(kAll, 7, 1), 8);
  EXPECT_EQ(TokensStored(kWindow, 0, 5), 5) << "all of them are kept";
  EXPECT_EQ(TokensStored(kWindow, 0, 100), 100) << "the prompt stays until the next call";
  EXPECT_EQ(TokensStored(kWindow, 100, 1), (6 - 1) + 1);
}

}  // namespace
}  // namespace steelyard
