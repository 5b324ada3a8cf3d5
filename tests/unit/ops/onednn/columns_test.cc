// SPDX-License-Identifier: Apache-2.0

#include "ops/onednn/columns.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

std::int64_t ColumnBytes(const Problem& p, int threads = 1) {
  const auto scratch = ColumnScratch(p, Target{.threads = threads});
  return scratch ? scratch->value() : -1;
}

TEST(Columns, OneGroupAndImageAtATime) {
  // 5 channels x 9 pixels of the kernel for each of 14 x 14 results.
  EXPECT_EQ(ColumnBytes(SquareOf(2, 5, 5, AxisOf(14, 3, 1), 2)), 5 * 9 * 196 * 4 + kGap);
}

TEST(Columns, HalfTheChannelsWhereTheCacheHoldsNoMore) {
  // A quarter of a megabyte of floats holds 27 channels of 128 x (25 pixels + 48 outputs): of 48
  // channels, two halves.
  EXPECT_EQ(ColumnBytes(RowOf(1, 48, 48, AxisOf(24, 128, 64), 16)), 24 * 128 * 25 * 4 + kGap);
}

TEST(Columns, PointwiseImagesAreColumnsAlready) {
  EXPECT_EQ(ColumnBytes(SquareOf(2, 5, 7, AxisOf(14, 1), 2)), 0);
}

TEST(Columns, VolumesGoPlaneByPlane) {
  Problem p = SquareOf(1, 5, 96, AxisOf(12, 3, 1, 2), 2);
  p.depth = AxisOf(12, 3, 1, 2);
  p.rank = 5;
  EXPECT_EQ(ColumnBytes(p), 5 * 27 * 36 * 4 + kGap);
}

TEST(Columns, Bfloat16AddsUpInFloat) {
  Problem p = Narrow(SquareOf(2, 5, 5, AxisOf(14, 3, 1), 2));
  const std::int64_t columns = 5 * 9 * 196 * 2 + kGap;
  const std::int64_t sums = 992 * 4 + kGap;  // 5 x 196, rounded up to whole lines of 16
  EXPECT_EQ(ColumnBytes(p), columns + sums);
  p.has_bias = true;  // of all groups, in float32
  EXPECT_EQ(ColumnBytes(p), columns + sums + 10 * 4 + kGap);
}

TEST(Columns, EachThreadHasItsOwn) {
  EXPECT_EQ(ColumnBytes(SquareOf(2, 5, 5, AxisOf(14, 3, 1), 2), 2), 2 * 5 * 9 * 196 * 4 + kGap);
}

TEST(Columns, MayNotOutgrowTheOperands) {
  // 31 x 31 pixels of the kernel for each of 46 x 58 results, beside tiny operands.
  EXPECT_EQ(ColumnBytes(SquareOf(1, 1, 1, AxisOf(28, 31, 45, 2, 3), 2)), -1);
}

std::int64_t BytesOfWeight(const Problem& p, int threads = 1) {
  const auto scratch = WeightColumnScratch(p, Target{.threads = threads});
  return scratch ? scratch->value() : -1;
}

TEST(Columns, WeightsAreAddedUpInMoreThanTheyNeed) {
  // As many floats as the weight has bytes.
  const Problem p = SquareOf(2, 2, 3, AxisOf(8, 3, 1), 2);
  const std::int64_t weight = 2 * 2 * 3 * 9;
  const std::int64_t sums = weight * 4 * 4 + kGap, columns = 2 * 9 * 64 * 4 + kGap;
  EXPECT_EQ(BytesOfWeight(p), sums + columns);
  EXPECT_EQ(BytesOfWeight(p, 2), 2 * (sums + columns) - 2 * kGap);
  // In bfloat16 twice, and the bias.
  Problem narrow = Narrow(p);
  narrow.has_bias = true;
  const std::int64_t narrow_sums = weight * 2 * 4 + kGap;
  EXPECT_EQ(BytesOfWeight(narrow), 2 * narrow_sums + 6 * 4 + kGap + 2 * 9 * 64 * 2 + kGap);
}

TEST(Columns, ChannelsLastImagesAreTransposedFirst) {
  Problem p = SquareOf(2, 2, 3, AxisOf(8, 3, 1), 2);
  const std::int64_t row_major = BytesOfWeight(p);
  p.channels_last = true;
  EXPECT_EQ(BytesOfWeight(p) - row_major, 2 * 64 * 4 + kGap);
}

TEST(Columns, FewerPixelsAtATimeWhereMemoryIsShort) {
  // 17 x 24 elements of the kernel for 6 x 29 results of two groups, beside small operands.
  Problem p = Narrow(SquareOf(2, 17, 4, AxisOf(6, 24, 23), 2));
  p.height = AxisOf(6, 1);
  const std::int64_t tensors = (2 * 34 * 36 + 8 * 17 * 24 + 2 * 8 * 6 * 29) * 2;
  const std::int64_t sums = (17 * 36 + 12) * 4 + kGap;  // whole lines of 16
  const std::int64_t column = 17 * 24 * 4;
  ASSERT_LT(15 * tensors, sums + 174 * column);
  // A tenth of what fits would be 15 pixels; a vector has 32.
  ASSERT_EQ((15 * tensors - sums) / column / 10, 15);
  EXPECT_EQ(BackwardColumnScratch(p, {}), Count(sums + 32 * column + kGap));
}

TEST(Columns, LargeNumbersAreRefused) {
  Problem p = SquareOf(2, 16, 16, AxisOf(14, 3));
  p.large = true;
  EXPECT_EQ(ColumnBytes(p), -1);
}

}  // namespace
}  // namespace steelyard::onednn
