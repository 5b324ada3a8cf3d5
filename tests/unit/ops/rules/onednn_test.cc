// SPDX-License-Identifier: Apache-2.0
//
// Sizes here were measured (torch 2.15, AVX-512, one thread) before the rules were written.

#include "ops/rules/onednn.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "../onednn/problems.h"

namespace steelyard::onednn {
namespace {

constexpr std::int64_t kMatrixPairs = 8216;  // a list, in channels-last kernels

// Padded by what the kernel needs beyond the image.
struct ForwardCase {
  Dims source, weight, result, stride;
  std::int64_t groups = 1;
  DType dtype = DType::kFloat32;
  bool has_bias = false;
  bool channels_last = false;
};

Buffers ForwardOf(const ForwardCase& c, int threads = 1) {
  const Target target{.threads = threads};
  Dims padding;
  for (int i = 2; i < c.weight.size(); ++i) {
    const std::int64_t reach = (c.result[i] - 1) * c.stride[i - 2] + c.weight[i] - c.source[i];
    padding.push_back(std::max<std::int64_t>(0, (reach + 1) / 2));
  }
  const Dims dilation = Dims::Filled(c.stride.size(), 1);
  return ForwardBuffers({.source = c.source,
                         .weight = c.weight,
                         .result = c.result,
                         .stride = c.stride,
                         .padding = padding,
                         .dilation = dilation,
                         .groups = c.groups,
                         .dtype = c.dtype,
                         .has_bias = c.has_bias,
                         .channels_last = c.channels_last},
                        target);
}

void Expect(const Buffers& b, std::int64_t scratch, std::int64_t source, std::int64_t weight,
            std::int64_t result) {
  EXPECT_EQ(b.scratch, scratch);
  EXPECT_EQ(b.source, source);
  EXPECT_EQ(b.weight, weight);
  EXPECT_EQ(b.result, result);
}

TEST(OneDnn, ChannelsAreFilledUpToBlocks) {
  // 24 channels are two blocks of 16, 40 are three.
  Expect(ForwardOf(
             {{2, 24, 14, 15}, {40, 24, 3, 3}, {2, 40, 14, 15}, {1, 1}, 1, DType::kFloat32, true}),
         48 * 4 + kGap, 2 * 32 * 210 * 4, 48 * 32 * 9 * 4, 2 * 48 * 210 * 4);
}

TEST(OneDnn, FewChannelsAreReadInPlace) {
  Expect(ForwardOf({{2, 3, 30, 30}, {64, 3, 7, 7}, {2, 64, 15, 15}, {2, 2}}), 0, 0, 64 * 3 * 49 * 4,
         2 * 64 * 225 * 4);
  // Not by a 1 x 1 kernel.
  Expect(ForwardOf({{20, 3, 14, 14}, {20, 3, 1, 1}, {20, 20, 14, 14}, {1, 1}}), 0,
         20 * 16 * 196 * 4, 32 * 16 * 4, 20 * 32 * 196 * 4);
}

TEST(OneDnn, StridedPointwiseKernelsDropPixelsFirst) {
  const std::int64_t source = 2 * 32 * 196 * 4, weight = 64 * 32 * 4, result = 2 * 64 * 49 * 4;
  Expect(ForwardOf({{2, 24, 14, 14}, {64, 24, 1, 1}, {2, 64, 7, 7}, {2, 2}}), 49 * 32 * 4 + kGap,
         source, weight, result);
  // Only if the stride divides the image.
  EXPECT_EQ(ForwardOf({{2, 32, 15, 15}, {64, 32, 1, 1}, {2, 64, 8, 8}, {2, 2}}).scratch, 0);
}

TEST(OneDnn, DepthwiseKernels) {
  Expect(ForwardOf(
             {{2, 24, 14, 14}, {24, 1, 7, 7}, {2, 24, 14, 14}, {1, 1}, 24, DType::kFloat32, true}),
         32 * 4 + kGap, 2 * 32 * 196 * 4, 32 * 49 * 4, 2 * 32 * 196 * 4);
  Expect(ForwardOf({{2, 24, 14, 14},
                    {24, 1, 7, 7},
                    {2, 24, 14, 14},
                    {1, 1},
                    24,
                    DType::kFloat32,
                    true,
                    true}),
         0, 0, 32 * 49 * 4, 0);
}

TEST(OneDnn, GroupsOfFourChannelsAreVectors) {
  Expect(ForwardOf({{2, 24, 14, 14}, {24, 12, 3, 3}, {2, 24, 14, 14}, {1, 1}, 2}), 0,
         2 * 24 * 196 * 4, 24 * 12 * 9 * 4, 2 * 24 * 196 * 4);
  // Others are products over the gathered columns of one group.
  Expect(ForwardOf({{2, 10, 14, 14}, {10, 5, 3, 3}, {2, 10, 14, 14}, {1, 1}, 2}),
         5 * 9 * 196 * 4 + kGap, 0, 0, 2 * 10 * 196 * 4);
}

TEST(OneDnn, ChannelsLastKernelsCopyTheWeightOnly) {
  Expect(ForwardOf({{2, 32, 14, 14},
                    {64, 32, 3, 3},
                    {2, 64, 14, 14},
                    {1, 1},
                    1,
                    DType::kFloat32,
                    true,
                    true}),
         kMatrixPairs, 0, 64 * 32 * 9 * 4, 0);
  // Groups of two channels are a block each.
  Expect(ForwardOf({{2, 64, 14, 14},
                    {64, 2, 3, 3},
                    {2, 64, 14, 14},
                    {1, 1},
                    32,
                    DType::kFloat32,
                    true,
                    true}),
         0, 0, 32 * 16 * 16 * 9 * 4, 0);
}

TEST(OneDnn, ChannelsLastKernelsTakeTwoOrThreeBlocksOfOutputs) {
  // 80 channels are filled up to 96; 48 are taken at once where the image is not small.
  const auto weight_of = [](std::int64_t outputs, std::int64_t size) {
    return ForwardOf({{2, 32, size, size},
                      {outputs, 32, 3, 3},
                      {2, outputs, size, size},
                      {1, 1},
                      1,
                      DType::kFloat32,
                      false,
                      true})
        .weight;
  };
  EXPECT_EQ(weight_of(80, 14), 96 * 32 * 9 * 4);
  EXPECT_EQ(weight_of(48, 9), 64 * 32 * 9 * 4);
  EXPECT_EQ(weight_of(48, 10), 48 * 32 * 9 * 4);
}

TEST(OneDnn, ListsOfMatricesFillPages) {
  // 15 x 15 pairs of 40 bytes fill three pages, and 308 pairs fill those.
  const ForwardCase c{
      {2, 32, 40, 40}, {16, 32, 15, 15}, {2, 16, 40, 40}, {1, 1}, 1, DType::kFloat32, false, true};
  EXPECT_EQ(ForwardOf(c).scratch, 308 * 40 + 4096);
  EXPECT_EQ(ForwardOf(c, 2).scratch, 2 * 308 * 40 + 4096);
}

TEST(OneDnn, Bfloat16AddsUpInFloat) {
  // A 1 x 1 kernel sums one image in float32, and fills its bias up to blocks.
  Expect(ForwardOf(
             {{2, 24, 14, 14}, {40, 24, 1, 1}, {2, 40, 14, 14}, {1, 1}, 1, DType::kBFloat16, true}),
         196 * 48 * 4 + kGap + 48 * 2 + kGap, 2 * 32 * 196 * 2, 48 * 32 * 2, 2 * 48 * 196 * 2);
  // Weights hold pairs of channels.
  Expect(ForwardOf(
             {{2, 3, 32, 32}, {64, 3, 16, 16}, {2, 64, 2, 2}, {16, 16}, 1, DType::kBFloat16, true}),
         0, 0, 64 * 4 * 256 * 2, 2 * 64 * 4 * 2);
}

TEST(OneDnn, EachThreadHasItsScratch) {
  const ForwardCase c{{2, 24, 14, 14}, {64, 24, 1, 1}, {2, 64, 7, 7}, {2, 2}};
  EXPECT_EQ(ForwardOf(c, 4).scratch, 4 * 49 * 32 * 4 + kGap);
}

TEST(OneDnn, WhatNoBlocksTakeIsProductsOfColumns) {
  // 5 channels of a group are no vector.
  const Buffers b = ForwardOf({{2, 10, 14, 14}, {10, 5, 3, 3}, {2, 10, 14, 14}, {1, 1}, 2});
  Expect(b, 5 * 9 * 196 * 4 + kGap, 0, 0, 2 * 10 * 196 * 4);
  EXPECT_FALSE(b.result_last);
}

TEST(OneDnn, DepthwiseVolumesGoPixelByPixel) {
  const Buffers b =
      ForwardOf({{2, 24, 6, 6, 6}, {24, 1, 3, 3, 3}, {2, 24, 6, 6, 6}, {1, 1, 1}, 24});
  Expect(b, 0, 2 * 24 * 216 * 4, 32 * 27 * 4, 2 * 24 * 216 * 4);
  EXPECT_TRUE(b.result_last);
}

TEST(OneDnn, PlainLoopsTakeTheRest) {
  // Columns of 31 x 31 pixels would be far larger than the image.
  const Buffers b = ForwardOf({{1, 2, 28, 5}, {2, 1, 31, 31}, {1, 2, 7, 6}, {2, 2}, 2});
  Expect(b, 0, 2 * 28 * 5 * 4, 0, 2 * 7 * 6 * 4);
  EXPECT_TRUE(b.result_last);
}

TEST(OneDnn, KernelsAsLargeAsTheImageAreProducts) {
  const Buffers b = ForwardOf({{4, 64, 7, 7}, {10, 64, 7, 7}, {4, 10, 1, 1}, {1, 1}});
  Expect(b, 0, 4 * 64 * 49 * 4, 10 * 64 * 49 * 4, 4 * 10 * 4);
  EXPECT_TRUE(b.estimated);  // the scratch
  EXPECT_FALSE(ForwardOf({{1, 64, 7, 7}, {10, 64, 7, 7}, {1, 10, 1, 1}, {1, 1}}).estimated);
}

TEST(OneDnn, AbsurdSizesAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(ForwardOf({{huge, 32, huge, 1}, {32, 32, 3, 1}, {huge, 32, huge, 1}, {1, 1}}),
               RuleError);
}

}  // namespace
}  // namespace steelyard::onednn
