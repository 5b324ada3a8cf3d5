// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "steelyard/tables.h"

namespace steelyard {
namespace {

TEST(StorageBytes, ReachesToTheLastElement) {
  const std::array<std::int64_t, 2> sizes = {3, 4};
  EXPECT_EQ(StorageBytes(DType::kFloat32, sizes, std::array<std::int64_t, 2>{4, 1}), 3 * 4 * 4);
  // Rows ten elements apart: the last row needs its own four only.
  EXPECT_EQ(StorageBytes(DType::kFloat32, sizes, std::array<std::int64_t, 2>{10, 1}),
            (2 * 10 + 4) * 4);
  EXPECT_EQ(StorageBytes(DType::kFloat32, sizes, std::array<std::int64_t, 2>{0, 1}), 4 * 4);
  EXPECT_EQ(StorageBytes(DType::kComplex128, {}, {}), 16);
  EXPECT_EQ(StorageBytes(DType::kBool, std::array<std::int64_t, 2>{3, 0},
                         std::array<std::int64_t, 2>{1, 1}),
            0);
}

TEST(StorageBytes, PackedIntegersRoundUpToBytes) {
  const std::array<std::int64_t, 1> stride = {1};
  EXPECT_EQ(StorageBytes(DType::kInt4, std::array<std::int64_t, 1>{5}, stride), (5 + 1) / 2);
  EXPECT_EQ(StorageBytes(DType::kUInt4, std::array<std::int64_t, 1>{6}, stride), 6 / 2);
  // Of six bits each, as whole bytes: 5 * 6 = 30 bits, and 32 * 6 exactly.
  EXPECT_EQ(StorageBytes(DType::kFloat6E3M2, std::array<std::int64_t, 1>{5}, stride), (30 + 7) / 8);
  EXPECT_EQ(StorageBytes(DType::kFloat6E3M2, std::array<std::int64_t, 1>{32}, stride), 32 * 6 / 8);
}

TEST(CheckLayout, RefusesWhatCannotBe) {
  using Two = std::array<std::int64_t, 2>;
  const std::int64_t big = std::int64_t{1} << 31;
  EXPECT_TRUE(CheckLayout(DType::kFloat32, Two{2, 3}, Two{3, 1}));
  EXPECT_FALSE(CheckLayout(DType::kFloat32, Two{2, -3}, Two{3, 1}));
  EXPECT_FALSE(CheckLayout(DType::kFloat32, Two{2, 3}, Two{-3, 1}));
  EXPECT_FALSE(CheckLayout(DType::kFloat32, Two{2, 3}, std::array<std::int64_t, 1>{1}));
  // 2^62 elements fit as bytes, not as floats.
  EXPECT_TRUE(CheckLayout(DType::kInt8, Two{big, big}, Two{big, 1}));
  EXPECT_FALSE(CheckLayout(DType::kFloat32, Two{big, big}, Two{big, 1}));
  // Expanded: no memory, but a count that does not fit.
  EXPECT_FALSE(CheckLayout(DType::kInt8, Two{big * 2, big * 2}, Two{0, 0}));
  EXPECT_TRUE(CheckLayout(DType::kFloat32, Two{0, INT64_MAX}, Two{INT64_MAX, 1}));
}

}  // namespace
}  // namespace steelyard
