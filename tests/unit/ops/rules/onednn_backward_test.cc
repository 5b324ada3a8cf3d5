// SPDX-License-Identifier: Apache-2.0
//
// Sizes here were measured (torch 2.15, AVX-512, one thread) before the rules were written.

#include "ops/rules/onednn_backward.h"

#include <gtest/gtest.h>

#include "../onednn/problems.h"

namespace steelyard::onednn {
namespace {

struct BackwardCase {
  Dims source, weight, result, stride;
  std::int64_t groups = 1;
  bool has_bias = false;
  bool channels_last = false;
  Dims padding{1, 1}, dilation{1, 1};
};

Convolution ProblemOf(const BackwardCase& c) {
  return {.source = c.source,
          .weight = c.weight,
          .result = c.result,
          .stride = c.stride,
          .padding = c.padding,
          .dilation = c.dilation,
          .groups = c.groups,
          .has_bias = c.has_bias,
          .channels_last = c.channels_last};
}

ImageGradientBuffers OfImage(const BackwardCase& c) {
  return BuffersOfImageGradient(ProblemOf(c), {});
}
WeightGradientBuffers OfWeight(const BackwardCase& c) {
  return BuffersOfWeightGradient(ProblemOf(c), {});
}

TEST(OneDnnBackward, ChannelsAreFilledUpToBlocks) {
  // 24 channels are two blocks of 16, 40 are three.
  const BackwardCase c{{2, 24, 14, 14}, {40, 24, 3, 3}, {2, 40, 14, 14}, {1, 1}, 1, true};
  const ImageGradientBuffers image = OfImage(c);
  EXPECT_EQ(image.given, 2 * 48 * 196 * 4);
  EXPECT_EQ(image.weight, 48 * 32 * 9 * 4);
  EXPECT_EQ(image.image, 2 * 32 * 196 * 4);
  EXPECT_FALSE(image.reordered);
  const WeightGradientBuffers weight = OfWeight(c);
  EXPECT_EQ(weight.given, 2 * 48 * 196 * 4);
  EXPECT_EQ(weight.source, 2 * 32 * 196 * 4);
  EXPECT_EQ(weight.weight, 48 * 32 * 9 * 4);
  EXPECT_EQ(weight.scratch, 48 * 4 + kGap);
  EXPECT_EQ(weight.bias, 40 * 4);
}

TEST(OneDnnBackward, PatchesAreMultipliedAsColumns) {
  const WeightGradientBuffers b =
      OfWeight({{2, 3, 224, 224}, {768, 3, 16, 16}, {2, 768, 14, 14}, {16, 16}});
  EXPECT_EQ(b.given, 0);
  EXPECT_EQ(b.source, 0);
  EXPECT_EQ(b.weight, 768 * 3 * 256 * 4);
  EXPECT_EQ(b.scratch, (3 * 256 * 196 + 4 * 768 * 3 * 256 + 64) * 4);
}

TEST(OneDnnBackward, FewChannelsAreBlocksOfEight) {
  // Of the weight's gradient; the image's has blocks of 16 as ever.
  const BackwardCase c{{2, 4, 12, 12}, {20, 4, 3, 3}, {2, 20, 12, 12}, {1, 1}, 1, true};
  EXPECT_EQ(OfImage(c).weight, 32 * 16 * 9 * 4);
  const WeightGradientBuffers b = OfWeight(c);
  EXPECT_EQ(b.given, 2 * 24 * 144 * 4);
  EXPECT_EQ(b.source, 2 * 8 * 144 * 4);
  EXPECT_EQ(b.weight, 24 * 8 * 9 * 4);
  EXPECT_EQ(b.scratch, 24 * 4 + kGap);
}

TEST(OneDnnBackward, StridedImagesComeWithTheirChannelsLast) {
  const BackwardCase c{{2, 64, 56, 56}, {128, 64, 3, 3}, {2, 128, 28, 28}, {2, 2}};
  const ImageGradientBuffers b = OfImage(c);
  EXPECT_TRUE(b.reordered);
  EXPECT_EQ(b.image, 2 * 64 * 56 * 56 * 4);
  // The gradient with one more row and column, in whole pages of 4096 elements; a page for a list
  // of 102 pairs (40 bytes each), rounded up, and one for a mask; each can be moved by a page.
  const std::int64_t gradient = (29 * 29 * 128 + 4095) / 4096 * 4096 * 4;
  EXPECT_EQ(b.scratch, gradient + 103 * 40 + 4096 + 3 * 4096);
}

TEST(OneDnnBackward, ShortRowsOfManyChannelsHaveBlocksOf48) {
  const BackwardCase c{
      {2, 1024, 14, 14}, {64, 1024, 1, 1}, {2, 64, 7, 7}, {2, 2}, 1, false, false, {0, 0}};
  EXPECT_EQ(OfImage(c).weight, 64 * (22 * 48) * 4);
}

TEST(OneDnnBackward, WhatNoKernelTakesIsAProductWithColumns) {
  // Groups of two channels.
  const BackwardCase c{{2, 4, 8, 8}, {6, 2, 3, 3}, {2, 6, 8, 8}, {1, 1}, 2};
  const std::int64_t columns = 2 * 9 * 64 * 4;
  EXPECT_EQ(OfImage(c).given, 0);
  EXPECT_EQ(OfImage(c).image, 2 * 4 * 64 * 4);
  EXPECT_EQ(OfImage(c).scratch, columns + kGap);
  EXPECT_EQ(OfWeight(c).scratch, columns + kGap + 4 * (6 * 2 * 9 * 4) + kGap);
}

TEST(OneDnnBackward, ChannelsLastImagesAreUsedAsTheyAre) {
  const BackwardCase c{{2, 96, 14, 14}, {96, 96, 3, 3}, {2, 96, 14, 14}, {1, 1}, 1, false, true};
  EXPECT_EQ(OfImage(c).given, 0);
  EXPECT_EQ(OfImage(c).image, 0);
  EXPECT_EQ(OfWeight(c).source, 0);
  EXPECT_EQ(OfWeight(c).weight, 96 * 96 * 9 * 4);
}

TEST(OneDnnBackward, ColumnsOfChannelsLastImagesAreCopiedOnceMore) {
  // 15 columns are too many for blocks.
  const BackwardCase c{{2, 16, 20, 20}, {8, 16, 1, 15}, {2, 8, 20, 20}, {1, 1}, 1,
                       false,           true,           {0, 7}};
  EXPECT_TRUE(OfWeight(c).plain);
  EXPECT_EQ(OfWeight(c).weight, 8 * 16 * 15 * 4);
}

TEST(OneDnnBackward, KernelsAsLargeAsTheImageAreProducts) {
  const BackwardCase c{{4, 64, 7, 7}, {10, 64, 7, 7}, {4, 10, 1, 1}, {1, 1}, 1,
                       false,         false,          {0, 0}};
  const ImageGradientBuffers image = OfImage(c);
  EXPECT_EQ(image.weight, 10 * 64 * 49 * 4);
  EXPECT_EQ(image.image, 4 * 64 * 49 * 4);
  EXPECT_TRUE(image.reordered);
  EXPECT_TRUE(image.estimated);
  const WeightGradientBuffers weight = OfWeight(c);
  EXPECT_EQ(weight.source, 4 * 64 * 49 * 4);
  EXPECT_EQ(weight.weight, 10 * 64 * 49 * 4);
  EXPECT_TRUE(weight.estimated);
}

TEST(OneDnnBackward, EstimatesSaySo) {
  const BackwardCase known{{2, 40, 16, 22}, {40, 40, 1, 5}, {2, 40, 16, 22}, {1, 1}, 1,
                           false,           true,           {0, 2}};
  EXPECT_FALSE(OfImage(known).estimated);
  EXPECT_EQ(OfImage(known).weight, 40 * 48 * 5 * 4);
  BackwardCase dilated = known;
  dilated.dilation = {1, 2};
  dilated.padding = {0, 4};
  EXPECT_TRUE(OfImage(dilated).estimated);
  const Convolution threads = ProblemOf(known);
  EXPECT_FALSE(BuffersOfWeightGradient(threads, {}).estimated);
  EXPECT_TRUE(BuffersOfWeightGradient(threads, {.threads = 2}).estimated);
}

}  // namespace
}  // namespace steelyard::onednn
