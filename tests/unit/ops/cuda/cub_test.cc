// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cub.h"

#include <gtest/gtest.h>

#include "cuda_events.h"

namespace steelyard::cuda {
namespace {

TEST(Cub, SortingByOneDigitNeedsNoCopies) {
  EXPECT_EQ(SortPairsBytes(4096, 6, kH100), 3583);
  EXPECT_EQ(SortPairsBytes(16384, 8, kH100), 6655);
}

TEST(Cub, SortingByMoreDigitsGoesToAndFro) {
  EXPECT_EQ(SortPairsBytes(4096, 16, kH100), 71167);
  EXPECT_EQ(SortPairsBytes(16384, 9, kH100), 270847);
  EXPECT_EQ(SortPairsBytes(16384, 17, kH100), 272895);
  EXPECT_EQ(SortPairsBytes(1000000, 16, kH100), 16227839);
}

// As PyTorch 2.15 asks for them in embedding_renorm_.
TEST(Cub, UniqueNumbersAreFoundByTiles) {
  EXPECT_EQ(UniqueBytes(5000000, kH100, 8), 10239);
  EXPECT_EQ(UniqueBytes(5000000, kH100, 4), 6911);
  EXPECT_EQ(UniqueBytes(5000000, kA100, 8), 21759);
  EXPECT_EQ(UniqueBytes(5000000, kA100, 4), 9471);
}

// As PyTorch 2.15 asks for them where it shuffles 5000, 50000 and 5000 numbers (randperm).
TEST(Cub, KeysAndValuesHaveWidthsOfTheirOwn) {
  EXPECT_EQ(SortPairsBytes(5000, 27, kH100, {.key = 4, .value = 8}), 70143);
  EXPECT_EQ(SortPairsBytes(50000, 34, kH100, {.key = 8, .value = 8}), 822271);
  EXPECT_EQ(SortPairsBytes(5000, 27, kH100, {.key = 4, .value = 4}), 50175);
  EXPECT_EQ(SortPairsBytes(8, 9, kH100, {.key = 4, .value = 8}), 1);  // within one block
}

TEST(Cub, TilesDependOnTheArchitecture) {
  // One tile more after 9216, 11520 and so on.
  EXPECT_LT(SortPairsBytes(9216, 6, kH100), SortPairsBytes(9217, 6, kH100));
  EXPECT_EQ(SortPairsBytes(8193, 6, kA100), SortPairsBytes(11520, 6, kA100));
  EXPECT_LT(SortPairsBytes(11520, 6, kA100), SortPairsBytes(11521, 6, kA100));
  EXPECT_EQ(UniqueByKeyBytes(78848, kH100), 1279);
  EXPECT_EQ(UniqueByKeyBytes(78849, kH100), 1535);
  EXPECT_EQ(UniqueByKeyBytes(21505, kA100), 1535);
  EXPECT_EQ(UniqueByKeyBytes(5121, kRtx3090), 1535);
}

TEST(Cub, ScansKeepAStateForEachTile) {
  EXPECT_EQ(ScanBytes(14336), 1279);
  EXPECT_EQ(ScanBytes(14337), 1535);
  EXPECT_EQ(ScanBytes(129025), 3583);
}

}  // namespace
}  // namespace steelyard::cuda
