// SPDX-License-Identifier: Apache-2.0
//
// Which kernel oneDNN takes was seen with ONEDNN_VERBOSE=2 (torch 2.15, AVX-512).

#include "ops/onednn/direct.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

using DirectKind = DirectKernel::Kind;

std::optional<DirectKernel> Choose(const Problem& p) { return ChooseDirect(p, Target{}); }

void ExpectKernel(const Problem& p, DirectKind kind, std::int64_t block) {
  const auto kernel = Choose(p);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_EQ(kernel->kind, kind);
  EXPECT_EQ(kernel->channel_block, block);
}

TEST(Direct, AnyChannelsOfOneGroupAreFilledUp) {
  ExpectKernel(SquareOf(2, 24, 40, AxisOf(14, 3, 1)), DirectKind::kDirect, 16);
  EXPECT_FALSE(Choose(SquareOf(2, 24, 40, AxisOf(14, 3, 1)))->reads_plain);
  EXPECT_TRUE(Choose(SquareOf(2, 3, 40, AxisOf(14, 3, 1)))->reads_plain);
}

TEST(Direct, GroupsAreVectorsOfTheirChannels) {
  ExpectKernel(SquareOf(2, 32, 16, AxisOf(14, 3, 1), 2), DirectKind::kDirect, 16);
  ExpectKernel(SquareOf(2, 8, 24, AxisOf(14, 3, 1), 2), DirectKind::kDirect, 8);
  ExpectKernel(SquareOf(2, 12, 4, AxisOf(14, 3, 1), 2), DirectKind::kDirect, 4);
  EXPECT_EQ(Choose(SquareOf(2, 5, 4, AxisOf(14, 3, 1), 2)), std::nullopt);
}

TEST(Direct, SmallVectorsTakeFewChannelsOfGroups) {
  // 3 groups of a channel each, outputs in eights.
  ExpectKernel(SquareOf(2, 1, 16, AxisOf(14, 3, 1), 3), DirectKind::kSmallVector, 8);
  EXPECT_EQ(Choose(SquareOf(2, 1, 16, AxisOf(14, 3, 1), 8)), std::nullopt);
  EXPECT_EQ(Choose(Narrow(SquareOf(2, 1, 16, AxisOf(14, 3, 1), 3))), std::nullopt);
}

TEST(Direct, PointwiseKernels) {
  ExpectKernel(SquareOf(2, 24, 40, AxisOf(14, 1)), DirectKind::kPointwise, 16);
  EXPECT_FALSE(Choose(SquareOf(2, 24, 40, AxisOf(14, 1)))->drops_pixels);
  EXPECT_TRUE(Choose(SquareOf(2, 24, 40, AxisOf(14, 1, 0, 2)))->drops_pixels);
  // A stride that does not divide the image.
  ExpectKernel(SquareOf(2, 24, 40, AxisOf(15, 1, 0, 2)), DirectKind::kDirect, 16);
  ExpectKernel(SquareOf(2, 16, 32, AxisOf(14, 1), 2), DirectKind::kDirect, 16);
}

TEST(Direct, DepthwiseKernels) {
  ExpectKernel(SquareOf(2, 1, 1, AxisOf(14, 3, 1), 24), DirectKind::kDepthwise, 16);
  // Six results of a row are in registers: no more padding than that.
  ExpectKernel(SquareOf(2, 1, 1, AxisOf(40, 13, 6), 24), DirectKind::kDepthwise, 16);
  EXPECT_EQ(Choose(SquareOf(2, 1, 1, AxisOf(40, 15, 7), 24)), std::nullopt);
}

TEST(Direct, PaddingBeyondARowOfRegistersIsRefused) {
  // Kernels of three columns keep rows of 28 results where the working set is small ...
  ExpectKernel(SquareOf(2, 64, 16, AxisOf(28, 3, 12, 1, 12)), DirectKind::kDirect, 16);
  // ... but rows of 31 / (2 + 1) = 10 in longer rows with two blocks of outputs.
  ExpectKernel(SquareOf(2, 64, 32, AxisOf(40, 3, 10, 1, 10)), DirectKind::kDirect, 16);
  EXPECT_EQ(Choose(SquareOf(2, 64, 32, AxisOf(40, 3, 11, 1, 11))), std::nullopt);
}

TEST(Direct, KernelsOutsideTheImageAreRefused) {
  // Of 3 pixels with 3 of padding the first result reads none.
  EXPECT_EQ(Choose(SquareOf(2, 16, 16, AxisOf(14, 3, 3))), std::nullopt);
}

TEST(Direct, CodeMustFitItsBuffer) {
  // 15 bytes x 16 channels x 28 pixels x columns, for the middle of a row: 39 columns fit 256 KiB.
  ExpectKernel(RowOf(1, 16, 16, AxisOf(400, 39)), DirectKind::kDirect, 16);
  // What does not may still go to vectors of eight if it is not padded.
  ExpectKernel(RowOf(1, 16, 16, AxisOf(400, 40)), DirectKind::kSmallVector, 8);
  // Padding on both sides triples the code.
  ExpectKernel(RowOf(1, 16, 16, AxisOf(392, 13, 6)), DirectKind::kDirect, 16);
  EXPECT_EQ(Choose(RowOf(1, 16, 16, AxisOf(392, 15, 7))), std::nullopt);
  ExpectKernel(Narrow(RowOf(1, 16, 16, AxisOf(392, 15, 7))), DirectKind::kDirect, 16);
}

TEST(Direct, LargeNumbersAreRefused) {
  Problem p = SquareOf(2, 16, 16, AxisOf(14, 3));
  p.large = true;
  EXPECT_EQ(Choose(p), std::nullopt);
}

TEST(Direct, ThreadsChangeTheRow) {
  // Nothing here depends on them but the choice of a row's length.
  const Problem p = SquareOf(2, 64, 32, AxisOf(40, 3, 10, 1, 10));
  EXPECT_TRUE(ChooseDirect(p, Target{.threads = 2}).has_value());
}

}  // namespace
}  // namespace steelyard::onednn
