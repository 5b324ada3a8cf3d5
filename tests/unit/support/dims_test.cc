// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "steelyard/tables.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using Number = std::optional<std::int64_t>;

TEST(Dim, TellsNumbersFromExpressions) {
  EXPECT_TRUE(Dim(0).is_number());
  EXPECT_TRUE(Dim(-1).is_number());
  EXPECT_TRUE(Dim(INT64_MAX).is_number());
  EXPECT_TRUE(Dim(-(std::int64_t{1} << 62)).is_number());
  EXPECT_TRUE(Dim::Expression(0).is_expression());
  EXPECT_EQ(Dim::Expression(UINT32_MAX).expression(), UINT32_MAX);
  EXPECT_TRUE(Dim::Unknown().is_unknown());
  EXPECT_FALSE(Dim::Unknown().is_expression());
}

TEST(Dims, InsertsAndErases) {
  Dims dims = {2, 4};
  dims.insert(1, 3);
  EXPECT_THAT(dims, ElementsAre(2, 3, 4));
  dims.insert(3, 5);
  dims.erase(0);
  EXPECT_THAT(dims, ElementsAre(3, 4, 5));
}

TEST(Dims, StopsAtTheGreatestRank) {
  Dims dims = Dims::Filled(Dims::kMaxRank + 1, 7);
  EXPECT_EQ(dims.size(), Dims::kMaxRank);
  dims.insert(0, 1);
  EXPECT_EQ(dims.size(), Dims::kMaxRank);
  EXPECT_EQ(dims[0], 7);
}

TEST(DimPool, SpansStayWhereTheyAre) {
  DimPool pool;
  const std::uint32_t first = pool.Allocate(3);
  const std::span<std::int64_t> span = pool.span(first, 3);
  std::iota(span.begin(), span.end(), 10);
  for (int i = 0; i < 1000; ++i) pool.Allocate(2 * Dims::kMaxRank);
  EXPECT_EQ(pool.span(first, 3).data(), span.data());
  EXPECT_THAT(span, ElementsAre(10, 11, 12));
}

TEST(DimPool, NoAllocationCrossesAChunk) {
  DimPool pool;
  // 8192 is no multiple of 100: the last of a chunk would cross its end.
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t offset = pool.Allocate(100);
    EXPECT_EQ(offset / 8192, (offset + 99) / 8192);
    EXPECT_TRUE(pool.Contains(offset, 100));
    pool.span(offset, 100)[99] = i;
  }
}

TEST(DimPool, NothingTakesNoRoom) {
  DimPool pool;
  EXPECT_TRUE(pool.span(pool.Allocate(0), 0).empty());
  for (int i = 0; i < 8192 / 128; ++i) pool.Allocate(128);
  EXPECT_TRUE(pool.span(pool.Allocate(0), 0).empty());
  EXPECT_FALSE(pool.Contains(8192, 1));
}

TEST(DimPool, CopyIsIndependent) {
  DimPool pool;
  const std::uint32_t offset = pool.Allocate(1);
  pool.span(offset, 1)[0] = 5;
  DimPool copy = pool;
  copy.span(offset, 1)[0] = 6;
  EXPECT_EQ(pool.span(offset, 1)[0], 5);
  const std::uint32_t next = copy.Allocate(1);
  EXPECT_EQ(next, offset + 1);
}

TEST(Apply, DividesAsPython) {
  // -7 // 2 == -4, -7 % 2 == 1, 7 % -2 == -1
  EXPECT_EQ(Apply(ExprOp::kFloorDiv, -7, 2, 0), -4);
  EXPECT_EQ(Apply(ExprOp::kFloorDiv, 7, -2, 0), -4);
  EXPECT_EQ(Apply(ExprOp::kCeilDiv, 7, 2, 0), 4);
  EXPECT_EQ(Apply(ExprOp::kCeilDiv, -7, 2, 0), -3);
  EXPECT_EQ(Apply(ExprOp::kMod, -7, 2, 0), 1);
  EXPECT_EQ(Apply(ExprOp::kMod, 7, -2, 0), -1);
  EXPECT_EQ(Apply(ExprOp::kMod, -6, 2, 0), 0);
}

TEST(Apply, HasNoValueWhereThereIsNone) {
  EXPECT_EQ(Apply(ExprOp::kFloorDiv, 1, 0, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kMod, 1, 0, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kFloorDiv, INT64_MIN, -1, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kMod, INT64_MIN, -1, 0), 0);
  EXPECT_EQ(Apply(ExprOp::kAdd, INT64_MAX, 1, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kMul, std::int64_t{1} << 32, std::int64_t{1} << 31, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kPow, 2, 63, 0), std::nullopt);
  EXPECT_EQ(Apply(ExprOp::kPow, 2, -1, 0), std::nullopt);
}

TEST(Apply, KnowsTheRest) {
  EXPECT_EQ(Apply(ExprOp::kPow, 2, 62, 0), std::int64_t{1} << 62);
  EXPECT_EQ(Apply(ExprOp::kPow, -1, INT64_MAX, 0), -1);
  EXPECT_EQ(Apply(ExprOp::kPow, 0, 0, 0), 1);
  EXPECT_EQ(Apply(ExprOp::kMin, 3, -2, 0), -2);
  EXPECT_EQ(Apply(ExprOp::kMax, 3, -2, 0), 3);
  EXPECT_EQ(Apply(ExprOp::kLe, 2, 2, 0), 1);
  EXPECT_EQ(Apply(ExprOp::kLt, 2, 2, 0), 0);
  EXPECT_EQ(Apply(ExprOp::kNot, 5, 0, 0), 0);
  EXPECT_EQ(Apply(ExprOp::kSelect, 1, 20, 30), 20);
  EXPECT_EQ(Apply(ExprOp::kSelect, 0, 20, 30), 30);
}

TEST(ExpressionTable, FoldsNumbers) {
  ExpressionTable table;
  EXPECT_EQ(table.Make(ExprOp::kMul, Dim(6), Dim(7)), Dim(42));
  EXPECT_EQ(table.Make(ExprOp::kNot, Dim(0)), Dim(1));
  EXPECT_EQ(table.size(), 0u);
}

TEST(ExpressionTable, WhatDoesNotFoldHasNoValue) {
  ExpressionTable table;
  const Dim by_zero = table.Make(ExprOp::kFloorDiv, Dim(1), Dim(0));
  const Dim too_large = table.Make(ExprOp::kMul, Dim(INT64_MAX), Dim(2));
  // -2^62 - 1 fits an int64 but not a Dim.
  const Dim too_low = table.Make(ExprOp::kAdd, Dim(-(std::int64_t{1} << 62)), Dim(-1));
  for (Dim d : {by_zero, too_large, too_low}) {
    ASSERT_TRUE(d.is_expression());
    EXPECT_EQ(table.Evaluate({})[d.expression()], std::nullopt);
  }
}

TEST(ExpressionTable, EvaluatesUnderSymbols) {
  ExpressionTable table;
  const Dim s0 = table.MakeSymbol(0);
  const Dim s1 = table.MakeSymbol(1);
  const Dim product = table.Make(ExprOp::kMul, s0, s1);
  const Dim half = table.Make(ExprOp::kFloorDiv, product, Dim(2));
  const Dim choice = table.Make(ExprOp::kSelect, table.Make(ExprOp::kLt, s0, s1), s0, half);

  const std::vector<Number> both = table.Evaluate(std::vector<Number>{9, 5});
  EXPECT_EQ(both[product.expression()], 9 * 5);
  EXPECT_EQ(both[half.expression()], 9 * 5 / 2);
  EXPECT_EQ(both[choice.expression()], 9 * 5 / 2);

  const std::vector<Number> one = table.Evaluate(std::vector<Number>{9, std::nullopt});
  EXPECT_EQ(one[s0.expression()], 9);
  EXPECT_EQ(one[product.expression()], std::nullopt);
}

}  // namespace
}  // namespace steelyard
