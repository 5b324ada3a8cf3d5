// SPDX-License-Identifier: Apache-2.0

#include "ops/onednn/transposed.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

constexpr std::int64_t kPage = 4096;
// A list of at most 102 pairs of matrices: a page and what aligning to one may take; the same for
// the marks of what is copied.
constexpr std::int64_t kPairs = 103 * 40 + kPage, kMarks = 2 * kPage;

// The convolution whose way back makes `out` pixels of `in`, with padding on both sides.
Axis BackOf(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {.in = (in - 1) * stride + kernel - 2 * padding,
          .out = in,
          .kernel = kernel,
          .stride = stride,
          .before = padding};
}

Buffers TransposedBuffers(const Problem& p, int threads = 1) {
  return BackwardBuffers(p, Use::kTransposed, Target{.threads = threads});
}

TEST(TransposedConvolution, StridedKernelsCopyTheImage) {
  // From 128 channels of 16 x 16 to 3 of 32 x 32; the image is padded to 18 x 18 in the copy.
  const Buffers b = TransposedBuffers(SquareOf(1, 3, 128, BackOf(16, 4, 2, 1)));
  const std::int64_t copy = (18 * 18 * 128 + kPage - 1) / kPage * kPage * 4 + kPage;
  EXPECT_EQ(b.scratch, kPairs + copy + kMarks + kGap);
  EXPECT_EQ(b.source, 128 * 256 * 4);
  EXPECT_EQ(b.weight, 128 * 16 * 16 * 4);  // 3 channels fill a block of 16
  EXPECT_EQ(b.result, 3 * 1024 * 4);
  EXPECT_TRUE(b.result_last);
  EXPECT_FALSE(b.estimated);
}

TEST(TransposedConvolution, BlocksOfTwoVectors) {
  // 80 channels are three blocks of 32.
  EXPECT_EQ(TransposedBuffers(SquareOf(2, 80, 24, BackOf(7, 2, 2, 0))).weight, 24 * 96 * 4 * 4);
  // Three vectors at a time where that fits and the image is not small.
  EXPECT_EQ(TransposedBuffers(SquareOf(2, 48, 24, BackOf(7, 2, 2, 0))).weight, 24 * 64 * 4 * 4);
  EXPECT_EQ(TransposedBuffers(SquareOf(2, 48, 24, BackOf(28, 2, 2, 0))).weight, 24 * 48 * 4 * 4);
}

TEST(TransposedConvolution, RowsThatTheStrideDoesNotDivideAreCopied) {
  // 13 pixels of a row, at strides of 2: 14 x 2 for each channel, in pages.
  const Buffers even = TransposedBuffers(SquareOf(2, 8, 16, BackOf(7, 2, 2, 0)));
  const Buffers odd = TransposedBuffers(SquareOf(2, 8, 16, BackOf(7, 3, 2, 1)));
  EXPECT_EQ(odd.scratch - even.scratch, kPage * 4 + kPage);
}

TEST(TransposedConvolution, GroupsOfNineToSixteenChannelsHaveBlocksOfEight) {
  EXPECT_EQ(TransposedBuffers(SquareOf(2, 20, 12, BackOf(7, 2, 2, 0), 3)).weight,
            3 * 12 * 24 * 4 * 4);
}

TEST(TransposedConvolution, UnitStridesAreTheWayBackOfAConvolution) {
  Problem p = SquareOf(2, 20, 24, BackOf(7, 3, 1, 1));
  p.has_bias = true;  // added from a copy of the result
  const Buffers b = TransposedBuffers(p);
  EXPECT_EQ(b.scratch, 2 * 32 * 49 * 4 + kGap);
  EXPECT_EQ(b.source, 2 * 32 * 49 * 4);
  EXPECT_EQ(b.weight, 32 * 32 * 9 * 4);
  EXPECT_EQ(b.result, 2 * 32 * 49 * 4);
  EXPECT_FALSE(b.result_last);
}

TEST(TransposedConvolution, WhatNoBlocksTakeIsProductsOfColumns) {
  Problem p = SquareOf(2, 6, 5, BackOf(7, 3, 1, 1), 2);
  const std::int64_t columns = 6 * 9 * 49 * 4 + kGap;
  EXPECT_EQ(TransposedBuffers(p).scratch, columns + kGap);
  p.has_bias = true;
  EXPECT_EQ(TransposedBuffers(p).scratch, columns + kGap + 2 * 12 * 49 * 4 + kGap);
  EXPECT_EQ(TransposedBuffers(p).source, 0);
  EXPECT_EQ(TransposedBuffers(p).weight, 0);
}

TEST(TransposedConvolution, EachThreadHasItsLists) {
  const Problem p = SquareOf(2, 16, 16, BackOf(7, 2, 2, 0));
  const std::int64_t own = 103 * 40 + kPage * 4 + kPage;  // pairs, copy, marks
  EXPECT_EQ(TransposedBuffers(p, 2).scratch - TransposedBuffers(p).scratch, own);
}

TEST(TransposedConvolution, WhatIsNotKnownToTheByteSaysSo) {
  EXPECT_TRUE(TransposedBuffers(Narrow(SquareOf(2, 16, 16, BackOf(7, 2, 2, 0)))).estimated);
  EXPECT_TRUE(TransposedBuffers(SquareOf(2, 48, 512, BackOf(3, 4, 2, 0))).estimated);
}

// Those of ResNet-50's strided shortcuts: 512 channels are 8 blocks of 64 or 11 of 48, which are
// 528.
TEST(TransposedConvolution, BlocksOfStridedShortcutsAreKnown) {
  const auto of = [](std::int64_t outputs, std::int64_t side, int threads = 1) {
    return BackwardBuffers(SquareOf(4, 512, outputs, AxisOf(2 * side, 1, 0, 2)), Use::kGradient,
                           Target{.threads = threads});
  };
  EXPECT_EQ(of(1024, 14).weight, 512 * 1024 * 4);
  EXPECT_FALSE(of(1024, 14).estimated);
  EXPECT_EQ(of(1024, 7).weight, 528 * 1024 * 4);
  EXPECT_FALSE(of(1024, 7).estimated);
  EXPECT_TRUE(of(1024, 9).estimated);  // both were seen
  EXPECT_TRUE(of(256, 14).estimated);
  EXPECT_TRUE(of(1024, 14, 2).estimated);
}

TEST(TransposedConvolution, NarrowPointwiseGradientsAddUpInFloat) {
  // Rows of 9 pixels, 19 of them for 13 x 13, of 40 channels in three blocks.
  const Buffers b =
      BackwardBuffers(Narrow(SquareOf(2, 40, 20, BackOf(13, 1, 1, 0))), Use::kGradient, {});
  EXPECT_EQ(b.scratch, 171 * 48 * 4 + kGap);
  EXPECT_FALSE(b.estimated);
}

}  // namespace
}  // namespace steelyard::onednn
