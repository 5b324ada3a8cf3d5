// SPDX-License-Identifier: Apache-2.0
//
// Which kernel differentiates a weight was read from what oneDNN says of itself (ONEDNN_VERBOSE);
// sizes were measured with one thread.

#include "ops/onednn/weight_gradient.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

using WeightKind = WeightKernel::Kind;

constexpr std::int64_t kBarrier = 2 * 4096;  // a page, at a page

Problem Last(Problem p) {
  p.channels_last = true;
  return p;
}
Problem WithBias(Problem p) {
  p.has_bias = true;
  return p;
}

bool Takes(WeightKind kind, const Problem& p) {
  const auto kernel = ChooseWeightKernel(p);
  return kernel && kernel->kind == kind;
}
bool TakesNone(const Problem& p) { return !ChooseWeightKernel(p); }

std::int64_t WeightBytes(const Problem& p) {
  const auto kernel = ChooseWeightKernel(p);
  return kernel ? WeightScratch(*kernel, p, {}).value() : -1;
}

TEST(WeightGradient, DepthwiseKernelsAreAtMostThreeWide) {
  EXPECT_TRUE(Takes(WeightKind::kDepthwise, SquareOf(2, 1, 1, AxisOf(14, 3, 1), 32)));
  EXPECT_TRUE(TakesNone(SquareOf(2, 1, 1, AxisOf(14, 5, 2), 32)));
  // Rows that the kernel does not meet, and padding of more than half the kernel.
  EXPECT_TRUE(TakesNone(SquareOf(2, 1, 1, AxisOf(15, 1, 0, 2), 32)));
  EXPECT_TRUE(TakesNone(SquareOf(2, 1, 1, AxisOf(14, 3, 2), 32)));
}

TEST(WeightGradient, KernelsAreAtMostFourteenWide) {
  EXPECT_TRUE(Takes(WeightKind::kDirect, RowOf(1, 64, 32, AxisOf(400, 14, 0, 20))));
  EXPECT_TRUE(TakesNone(RowOf(1, 64, 32, AxisOf(400, 15, 0, 20))));
  EXPECT_TRUE(TakesNone(RowOf(1, 64, 32, AxisOf(400, 40, 0, 20))));
  // Unless as wide as the image, and not much wider.
  EXPECT_TRUE(Takes(WeightKind::kDirect, RowOf(1, 64, 32, AxisOf(19, 19))));
  EXPECT_TRUE(TakesNone(RowOf(1, 64, 32, AxisOf(20, 20))));
}

TEST(WeightGradient, FewChannelsAreColoursOrSmallVectors) {
  const auto of = [](std::int64_t inputs) {
    return ChooseWeightKernel(SquareOf(2, inputs, 20, AxisOf(12, 3, 1)));
  };
  EXPECT_TRUE(of(3)->reads_plain);
  EXPECT_EQ(of(3)->block, 16);
  EXPECT_FALSE(of(4)->reads_plain);
  EXPECT_EQ(of(4)->block, 8);
  EXPECT_EQ(of(16)->block, 16);
  // With the channels last, any few are read in place.
  EXPECT_TRUE(ChooseWeightKernel(Last(SquareOf(2, 4, 20, AxisOf(12, 3, 1))))->reads_plain);
}

TEST(WeightGradient, GroupsFillBlocks) {
  EXPECT_EQ(ChooseWeightKernel(SquareOf(2, 16, 32, AxisOf(12, 3, 1), 2))->block, 16);
  EXPECT_EQ(ChooseWeightKernel(SquareOf(2, 8, 32, AxisOf(12, 3, 1), 2))->block, 8);
  EXPECT_TRUE(TakesNone(SquareOf(2, 4, 32, AxisOf(12, 3, 1), 2)));
  EXPECT_EQ(ChooseWeightKernel(Last(SquareOf(2, 4, 32, AxisOf(12, 3, 1), 2)))->block, 16);
}

TEST(WeightGradient, DilationsNeedUnitStridesAndAnImageAsLarge) {
  EXPECT_TRUE(Takes(WeightKind::kDirect, SquareOf(2, 16, 16, AxisOf(12, 3, 2, 1, 2))));
  EXPECT_TRUE(TakesNone(SquareOf(2, 16, 16, AxisOf(12, 3, 2, 2, 2))));
  EXPECT_TRUE(TakesNone(SquareOf(2, 16, 16, AxisOf(8, 3, 4, 1, 4))));
  Problem volumes = SquareOf(2, 16, 16, AxisOf(12, 3));
  volumes.rank = 5;
  volumes.depth = AxisOf(12, 3, 0, 1, 2);
  EXPECT_TRUE(TakesNone(volumes));
  EXPECT_TRUE(Takes(WeightKind::kDirect, Narrow(volumes)));
}

TEST(WeightGradient, NarrowKernelsAreWiderOverFewChannels) {
  EXPECT_TRUE(Takes(WeightKind::kDirect, Narrow(SquareOf(2, 3, 32, AxisOf(40, 24)))));
  EXPECT_TRUE(TakesNone(Narrow(SquareOf(2, 3, 32, AxisOf(40, 25)))));
  EXPECT_TRUE(TakesNone(Narrow(SquareOf(2, 16, 32, AxisOf(40, 15)))));
  // Nothing fills up their outputs.
  EXPECT_TRUE(TakesNone(Narrow(SquareOf(2, 3, 6, AxisOf(9, 2)))));
}

TEST(WeightGradient, FloatKeepsAPaddedBias) {
  const Problem p = SquareOf(2, 24, 40, AxisOf(14, 3, 1));
  EXPECT_EQ(WeightBytes(p), 0);
  EXPECT_EQ(WeightBytes(WithBias(p)), 48 * 4 + kGap);
  EXPECT_EQ(WeightBytes(WithBias(SquareOf(2, 1, 1, AxisOf(14, 3, 1), 20))), 0);
}

TEST(WeightGradient, StridedPointwiseKernelsDropPixels) {
  // 12 blocks of input channels are taken 6 at a time, the fewest from 5 on that divide them.
  EXPECT_EQ(WeightBytes(SquareOf(2, 192, 64, AxisOf(28, 1, 0, 2))), 6 * 16 * 196 * 4 + kGap);
  EXPECT_EQ(WeightBytes(Last(SquareOf(2, 192, 64, AxisOf(28, 1, 0, 2)))), 192 * 196 * 4 + kGap);
}

TEST(WeightGradient, NarrowPointwiseKernelsPairPixels) {
  // 13 x 13 pixels and one more are pairs; two and three blocks of channels.
  const Problem p = WithBias(Narrow(SquareOf(2, 40, 20, AxisOf(13, 1))));
  const std::int64_t copies = (32 + 48) * 170 * 2 + 2 * kGap;
  const std::int64_t sums = (32 * 48 + 32) * 4 + kGap;
  EXPECT_EQ(WeightBytes(p), copies + sums + 32 * 2 + kGap);
  // Large images are paired in registers.
  EXPECT_EQ(WeightBytes(Narrow(SquareOf(2, 40, 20, AxisOf(15, 1)))), 32 * 48 * 4 + kGap);
}

TEST(WeightGradient, NarrowKernelsPairPixelsOfBothImages) {
  // Rows of 14 and two pixels of padding, which are there once more at the end.
  const Problem p = Narrow(SquareOf(2, 24, 40, AxisOf(14, 3, 1)));
  const std::int64_t source = 2 * 16 * 16 * 14 + 2, result = 3 * 16 * 14 * 14;
  EXPECT_EQ(WeightBytes(p), (source + result) * 2 + 48 * 32 * 9 * 4 + 3 * kGap + kBarrier);
  // Few channels are read as they lie, but for the padding.
  const Problem first = Narrow(SquareOf(2, 3, 16, AxisOf(14, 3, 1)));
  EXPECT_EQ(WeightBytes(first), (2 + 16 * 196) * 2 + 16 * 3 * 9 * 4 + 3 * kGap + kBarrier);
}

TEST(WeightGradient, LargeNarrowResultsArePairedWithoutWaiting) {
  // 64 x 128 x 128 results of four bytes do not fit a megabyte.
  const Problem p = Narrow(SquareOf(2, 3, 64, AxisOf(128, 3, 1)));
  EXPECT_EQ(WeightBytes(p), (2 + 16 * 128 * 128) * 2 + 64 * 3 * 9 * 4 + 3 * kGap);
}

TEST(WeightGradient, NarrowDepthwiseKernelsAddUpInFloat) {
  const Problem p = WithBias(Narrow(SquareOf(2, 1, 1, AxisOf(14, 3, 1), 20)));
  EXPECT_EQ(WeightBytes(p), 32 * 9 * 4 + 32 * 4 + 2 * kGap);
  EXPECT_EQ(WeightBytes(Last(p)), 32 * 9 * 4 + 2 * 20 * 4 + 3 * kGap);
}

TEST(WeightGradient, LargeNumbersAreRefused) {
  Problem p = SquareOf(2, 16, 16, AxisOf(14, 3));
  p.large = true;
  EXPECT_TRUE(TakesNone(p));
}

}  // namespace
}  // namespace steelyard::onednn
