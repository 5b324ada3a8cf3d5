// SPDX-License-Identifier: Apache-2.0
#include "support/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace steelyard {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(CheckedTest, IsExactUpToTheLimits) {
  EXPECT_EQ(CheckedAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(CheckedSub(kMin + 1, 1), kMin);
  EXPECT_EQ(CheckedMul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(CheckedMul(-1, kMax), -kMax);
}

TEST(CheckedTest, HasNoResultBeyondThem) {
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedSub(kMin, 1), std::nullopt);
  EXPECT_EQ(CheckedMul(std::int64_t{1} << 32, std::int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMul(-1, kMin), std::nullopt);
}

TEST(CheckedIntTest, FollowsAFormula) {
  // A float32 tensor of 32 x 128 x 768, twice, without 5 elements.
  const CheckedInt bytes = (CheckedInt(32) * 128 * 768 * 2 - 5) * 4;
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.value(), (32 * 128 * 768 * 2 - 5) * 4);
}

TEST(CheckedIntTest, HoldsTheFlopsOfTheLargestModels) {
  // 6 flops per parameter and token (Kaplan et al. 2020), 10^12 parameters, 10^5 tokens.
  const CheckedInt flops = CheckedInt(6) * 1'000'000'000'000 * 100'000;
  EXPECT_EQ(flops.Get(), 600'000'000'000'000'000);
}

TEST(CheckedIntTest, RemembersOverflow) {
  CheckedInt total = kMax;
  total += 1;
  EXPECT_FALSE(total.ok());
  total -= kMax;  // Would come back into range if it had wrapped around.
  total *= 0;
  EXPECT_FALSE(total.ok());
  EXPECT_EQ(total.Get(), std::nullopt);
  EXPECT_EQ(total.value(), 0);
}

TEST(CheckedIntTest, OverflowOfAnOperandCarriesOver) {
  const CheckedInt overflowed = CheckedInt(kMax) * 2;
  EXPECT_FALSE((CheckedInt(1) + overflowed).ok());
  EXPECT_FALSE((CheckedInt(1) - overflowed).ok());
  EXPECT_FALSE((CheckedInt(0) * overflowed).ok());
}

static_assert((CheckedInt(2) * 3 + 4).value() == 2 * 3 + 4, "usable in constant expressions");

}  // namespace
}  // namespace steelyard
