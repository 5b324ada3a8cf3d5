// SPDX-License-Identifier: Apache-2.0
//
// ATen's own batch norms (ops/cuda/batch_norm.cc).

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// 4 * 64 * 28 * 28 elements in bfloat16, 64 statistics in float32.
constexpr std::int64_t kImage = 401408, kChannels = 256;
constexpr std::int64_t kBlocks = 13;  // that work on a channel

TEST(CudaBatchNorm, RowsNeedNoBuffer) {
  EXPECT_THAT(CudaBytesOf("aten::batch_norm(bf16[4,64,28,28], bf16[64], bf16[64], None, None, "
                          "True, 0.1, 1e-05, True)"),
              ElementsAre(kImage, kChannels, kChannels, -kChannels, -kChannels));
}

TEST(CudaBatchNorm, ThirteenBlocksLeaveFourNumbersOfEachChannel) {
  EXPECT_THAT(CudaBytesOf("aten::batch_norm(bf16[4,64,28,28]{50176,1,1792,64}, bf16[64], bf16[64], "
                          "None, None, True, 0.1, 1e-05, True)"),
              ElementsAre(kImage, kChannels, kChannels, kBlocks * 4 * kChannels, 8, -8,
                          -kBlocks * 4 * kChannels, -kChannels, -kChannels));
}

TEST(CudaBatchNorm, OtherOrdersAreCastForTheirMoments) {
  EXPECT_THAT(
      CudaBytesOf("aten::batch_norm(bf16[4,64,28,28]{1,3136,112,4}, bf16[64], bf16[64], "
                  "None, None, True, 0.1, 1e-05, True)"),
      ElementsAre(kImage, kChannels, kChannels, 2 * kImage, -2 * kImage, -kChannels, -kChannels));
}

TEST(CudaBatchNorm, GradientsOfChannelsLastAreSummedForBothParameters) {
  EXPECT_THAT(
      CudaBytesOf("aten::native_batch_norm_backward(bf16[4,64,28,28]{50176,1,1792,64}, "
                  "bf16[4,64,28,28]{50176,1,1792,64}, f32[64], f32[64], f32[64], f32[64], f32[64], "
                  "True, 1e-05, [True,True,True])"),
      ElementsAre(kChannels, kChannels, kChannels, kChannels, kBlocks * 2 * kChannels, 8, -8,
                  -kBlocks * 2 * kChannels, kImage, -kChannels, -kChannels));
}

TEST(CudaBatchNorm, RowsGiveTheirGradientsAtOnce) {
  EXPECT_THAT(CudaBytesOf("aten::native_batch_norm_backward(f32[4,64,28,28]{1,3136,112,4}, "
                          "f32[4,64,28,28], f32[64], f32[64], f32[64], f32[64], f32[64], True, "
                          "1e-05, [True,True,True])"),
              ElementsAre(2 * kImage, kChannels, kChannels));
}

// Channels last: the gradient alone is copied into that order; two numbers for each channel of each
// image and two for each group.
TEST(CudaGroupNorm, GradientsOfImagesWhoseChannelsLieLastKeepThatOrder) {
  constexpr std::int64_t kPixels = 2 * 8 * 15 * 4, kSums = 2 * 8 * 4, kFactors = 2 * 4 * 4;
  EXPECT_THAT(
      CudaBytesOf("aten::native_group_norm_backward(f32[2,8,3,5], f32[2,8,3,5]{120,1,40,8}, "
                  "f32[2,4], f32[2,4], f32[8], 2, 8, 15, 4, [True,True,True])"),
      ElementsAre(kPixels, kPixels, 8 * 4, 8 * 4, kSums, kSums, kFactors, kFactors, -kFactors,
                  -kFactors, -kSums, -kSums, -kPixels));
}

}  // namespace
}  // namespace steelyard
