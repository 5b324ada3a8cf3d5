// SPDX-License-Identifier: Apache-2.0

#include "ops/onednn/product.h"

#include <gmock/gmock.h>

#include "problems.h"

namespace steelyard::onednn {
namespace {

constexpr std::int64_t kBlockPairs = 640 + kGap;  // a list

std::int64_t ProductBytes(const Product& product, int threads = 1) {
  return ProductScratch(product, Target{.threads = threads}).value();
}
// A copy of the second factor's 64 columns, and of float sums.
std::int64_t Second(std::int64_t steps) { return 64 * steps * 2 + kGap; }
std::int64_t Sums(std::int64_t rows, std::int64_t columns) { return rows * columns * 4 + kGap; }

TEST(ProductScratch, OneBlockOfColumnsAndSums) {
  // 30 steps are rounded up to a register of 32.
  EXPECT_EQ(ProductBytes({.rows = 7, .columns = 30, .depth = 30}),
            kBlockPairs + Second(32) + Sums(7, 30));
}

TEST(ProductScratch, RowsAreADivisorOfAll) {
  // At most 256 and at least 32, and best none left over: 300 = 2 x 150.
  EXPECT_EQ(ProductBytes({.rows = 300, .columns = 768, .depth = 96}),
            kBlockPairs + Second(96) + Sums(150, 64));
}

TEST(ProductScratch, StepsAreLimited) {
  EXPECT_EQ(ProductBytes({.rows = 512, .columns = 768, .depth = 768}),
            kBlockPairs + Second(512) + Sums(256, 64));
  EXPECT_EQ(ProductBytes({.rows = 512, .columns = 768, .depth = 3072}),
            kBlockPairs + Second(1024) + Sums(256, 64));
}

TEST(ProductScratch, ATransposedFirstFactorIsCopied) {
  // Rows of 512 would lie a power of two apart: 544. The copy serves all 12 blocks of columns.
  EXPECT_EQ(ProductBytes({.rows = 512, .columns = 768, .depth = 768, .first_transposed = true}),
            kBlockPairs + 256 * 544 * 2 + kGap + Second(512) + Sums(256, 12 * 64));
  // Where one pass over the inner dimension does, sums of one block are kept.
  EXPECT_EQ(ProductBytes({.rows = 256, .columns = 768, .depth = 384, .first_transposed = true}),
            kBlockPairs + 256 * 384 * 2 + kGap + Second(384) + Sums(256, 64));
}

TEST(ProductScratch, VectorsNeedNoCopies) {
  EXPECT_EQ(ProductBytes({.rows = 1, .columns = 384, .depth = 768}), kBlockPairs + Sums(192, 1));
  EXPECT_EQ(ProductBytes({.rows = 7, .columns = 1, .depth = 1025}), kBlockPairs + Sums(7, 1));
}

TEST(ProductScratch, AMatrixWithGapsIsCopiedForAVector) {
  EXPECT_EQ(ProductBytes({.columns = 128, .depth = 65, .matrix_has_gaps = true}),
            kBlockPairs + Second(96) + Sums(1, 64));
  // A column is the row of the transposed product; passes are of 512 steps at most.
  EXPECT_EQ(ProductBytes({.rows = 70, .depth = 2100, .matrix_has_gaps = true}),
            kBlockPairs + Second(512) + Sums(1, 64));
}

TEST(ProductScratch, AVectorWithGapsIsCopied) {
  EXPECT_EQ(ProductBytes({.columns = 128, .depth = 65, .vector_has_gaps = true}),
            kBlockPairs + 96 * 2 + kGap + Second(96) + Sums(1, 64));
  // The copy serves both blocks of columns.
  EXPECT_EQ(ProductBytes({.columns = 70, .depth = 2100, .vector_has_gaps = true}),
            kBlockPairs + 544 * 2 + kGap + Second(512) + Sums(1, 2 * 64));
}

TEST(ProductScratch, EachThreadHasItsOwn) {
  const std::int64_t own = 640 + 64 * 96 * 2 + 150 * 64 * 4;
  EXPECT_EQ(ProductBytes({.rows = 300, .columns = 768, .depth = 96}, 2), 2 * own + 3 * kGap);
}

}  // namespace
}  // namespace steelyard::onednn
