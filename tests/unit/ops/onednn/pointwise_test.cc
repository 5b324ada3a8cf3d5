// SPDX-License-Identifier: Apache-2.0

#include "ops/onednn/pointwise.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

PointwiseSums PointwiseSumsOf(const Problem& p, int threads = 1) {
  return SumsOf(p, 16, Target{.threads = threads});
}

TEST(Pointwise, SumsOfOneImage) {
  // Rows of 7 divide 14 lines; 40 channels fill three blocks.
  EXPECT_EQ(PointwiseSumsOf(SquareOf(2, 24, 40, AxisOf(14, 1))).bytes, Count(196 * 48 * 4));
}

TEST(Pointwise, WholeRowsOfRegisters) {
  // No row of 6 to 9 divides 13 x 13 = 169 pixels; 8 leaves 1, 9 leaves 7: 171 = 19 x 9.
  EXPECT_EQ(PointwiseSumsOf(SquareOf(4, 17, 9, AxisOf(13, 1))).bytes, Count(171 * 16 * 4));
}

TEST(Pointwise, ThreadsShareImages) {
  EXPECT_EQ(PointwiseSumsOf(SquareOf(2, 24, 40, AxisOf(14, 1)), 2).bytes, Count(2 * 196 * 48 * 4));
}

TEST(Pointwise, ThreadsShareTheChannelsOfASingleImage) {
  // 40 channels of one pixel row: 32 for one thread and 16 for the other, in buffers of 32.
  const Problem p = RowOf(1, 128, 64, AxisOf(7, 1));
  EXPECT_EQ(PointwiseSumsOf(p, 2).bytes, Count(2 * 7 * 32 * 4));
}

TEST(Pointwise, LittleWorkIsNotShared) {
  // 4 images of 9 pixels: 4 x 9 x 80 = 2880 elements are too few, 4 x 9 x 128 are not.
  const PointwiseSums few = PointwiseSumsOf(SquareOf(4, 80, 16, AxisOf(3, 1)), 2);
  EXPECT_EQ(few.threads, 1);
  EXPECT_EQ(few.bytes, Count(9 * 16 * 4));
  EXPECT_EQ(PointwiseSumsOf(SquareOf(4, 128, 16, AxisOf(3, 1)), 2).threads, 2);
}

}  // namespace
}  // namespace steelyard::onednn
