// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/nonzero.h"

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// A number of 4 bytes is what the host reads.
TEST(CudaNonzero, FewElementsAreCountedByOneBlock) {
  EXPECT_THAT(CudaBytesOf("aten::nonzero(bool[100])"),
              ElementsAre(4, 1, -1, 100 * 8, 1023, -1023, -4));
}

TEST(CudaNonzero, ManyAreCountedByAllProcessors) {
  constexpr std::int64_t kPositions = 10'000'000 * 8;
  EXPECT_THAT(CudaBytesOf("aten::nonzero(bool[10000000])"),
              ElementsAre(4, 21503, -21503, kPositions, 19711, -19711, -4));
  EXPECT_THAT(CudaBytesOf("aten::nonzero(bool[10000000])", kA100),
              ElementsAre(4, 17663, -17663, kPositions, 35583, -35583, -4));
  EXPECT_THAT(CudaBytesOf("aten::nonzero(bool[10000000])", kRtx3090),
              ElementsAre(4, 10239, -10239, kPositions, 125951, -125951, -4));
}

TEST(CudaNonzero, WhatDoesNotLieDenselyIsCopied) {
  EXPECT_THAT(CudaBytesOf("aten::nonzero(bool[6,5]{1,6})"),
              ElementsAre(30, 4, 1, -1, 30 * 2 * 8, 1023, -1023, -4, -30));
}

TEST(CudaNonzero, MasksBecomePositionsOfEachDimension) {
  EXPECT_THAT(CudaBytesOf("aten::masked_select(f32[5,6], bool[5,6])"),
              ElementsAre(4, 1, -1, 30 * 2 * 8, 1023, -1023, -4, 30 * 4, -30 * 2 * 8));
  EXPECT_THAT(CudaBytesOf("aten::index.Tensor(f32[5,6], [bool[5]])"),
              ElementsAre(4, 1, -1, 5 * 8, 1023, -1023, -4, 5 * 6 * 4, -5 * 8));
}

TEST(CudaNonzero, MaskedScatterAddsUpTheMask) {
  EXPECT_THAT(CudaBytesOf("aten::masked_scatter_(f32[900], bool[900], f32[900])"),
              ElementsAre(900 * 8, 1279, -1279, -900 * 8));
}

}  // namespace
}  // namespace steelyard
