// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/blocks.h"

#include <gtest/gtest.h>

namespace steelyard::onednn {
namespace {

TEST(Blocks, OneVectorIsABlock) {
  EXPECT_EQ(ProductBlock({.channels = 16}), 16);
  EXPECT_EQ(ProductBlock({.channels = 3}), 16);
}

TEST(Blocks, OfManyPixelsKernelsOfOneTakeFourVectors) {
  EXPECT_EQ(ProductBlock({.channels = 512, .pointwise = true, .pixels = 64}), 64);
  // 11 blocks of 48 are 528, of which 16 are empty: a thirty-third.
  EXPECT_EQ(ProductBlock({.channels = 512, .pointwise = true, .pixels = 63}), 48);
  // 6 blocks of 48 are 288, of which 32 are empty: a ninth.
  EXPECT_EQ(ProductBlock({.channels = 256, .pointwise = true, .pixels = 63}), 32);
}

TEST(Blocks, LargerKernelsGoByTheWeight) {
  EXPECT_EQ(ProductBlock({.channels = 128, .pixels = 100}), 64);
  EXPECT_EQ(ProductBlock({.channels = 192, .pixels = 100}), 48);  // 768 bytes are too many for 64
  EXPECT_EQ(ProductBlock({.channels = 192, .pixels = 81}), 32);
  EXPECT_EQ(ProductBlock({.channels = 432, .pixels = 100}), 32);  // 1728 bytes, more than 1536
  EXPECT_EQ(ProductBlock({.channels = 432, .element_bytes = 2, .pixels = 100}), 48);
}

TEST(Blocks, ATwentiethMayBeEmpty) {
  EXPECT_TRUE(NearlyFills(19, 20));
  EXPECT_FALSE(NearlyFills(18, 20));
}

}  // namespace
}  // namespace steelyard::onednn
