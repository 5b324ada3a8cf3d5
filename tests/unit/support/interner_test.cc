// SPDX-License-Identifier: Apache-2.0
#include "support/interner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

TEST(InternerTest, NumbersDistinctTextsInOrder) {
  StringInterner pool;
  EXPECT_EQ(pool.Intern("a"), 0U);
  EXPECT_EQ(pool.Intern("b"), 1U);
  EXPECT_EQ(pool.Intern("a"), 0U);
  EXPECT_EQ(pool.size(), 2U);
  EXPECT_EQ(pool[0], "a");
  EXPECT_EQ(pool[1], "b");
}

TEST(InternerTest, TakesEmptyTextsAndAnyBytes) {
  StringInterner pool;
  const std::string_view with_zero("a\0b", 3);
  EXPECT_EQ(pool.Intern(""), 0U);
  EXPECT_EQ(pool.Intern(with_zero), 1U);
  EXPECT_EQ(pool.Intern("a"), 2U);
  EXPECT_EQ(pool[0], "");
  EXPECT_EQ(pool[1], with_zero);
}

TEST(InternerTest, FindsOnlyWhatIsThere) {
  StringInterner pool;
  EXPECT_EQ(pool.Find("a"), std::nullopt);
  pool.Intern("a");
  EXPECT_EQ(pool.Find("a"), 0U);
  EXPECT_EQ(pool.Find("b"), std::nullopt);
}

TEST(InternerTest, GrowsWithoutMovingTexts) {
  StringInterner pool;
  std::vector<std::string_view> views;
  constexpr std::uint32_t kCount = 100'000;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t id = pool.Intern("module.layer." + std::to_string(i));
    ASSERT_EQ(id, i);
    views.push_back(pool[id]);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(views[i], "module.layer." + std::to_string(i));
    ASSERT_EQ(views[i].data(), pool[i].data());
    ASSERT_EQ(pool.Find(views[i]), i);
  }
}

TEST(InternerTest, StoresTextsLargerThanAChunk) {
  StringInterner pool;
  const std::string large(5'000'000, 'x');
  pool.Intern("before");
  EXPECT_EQ(pool.Intern(large), 1U);
  EXPECT_EQ(pool.Intern("after"), 2U);
  EXPECT_EQ(pool[1], large);
  EXPECT_EQ(pool[2], "after");
}

TEST(InternerTest, AcceptsItsOwnTexts) {
  StringInterner pool;
  pool.Intern("encoder.layer");
  const std::uint32_t part = pool.Intern(pool[0].substr(0, 7));
  EXPECT_EQ(pool[part], "encoder");
}

TEST(InternerTest, CopiesAreIndependent) {
  StringInterner pool;
  pool.Intern("a");
  pool.Intern("");
  StringInterner copy = pool;
  pool = StringInterner();
  EXPECT_EQ(copy[0], "a");
  EXPECT_EQ(copy.Find(""), 1U);
  EXPECT_EQ(copy.Intern("c"), 2U);
  EXPECT_EQ(pool.Find("a"), std::nullopt);

  pool = copy;
  EXPECT_EQ(pool.Find("c"), 2U);
}

TEST(InternerTest, MovingKeepsViews) {
  StringInterner pool;
  pool.Intern("a");
  const std::string_view view = pool[0];
  const StringInterner moved = std::move(pool);
  EXPECT_EQ(moved[0].data(), view.data());
}

TEST(InternerTest, ReservingChangesNothingElse) {
  StringInterner pool;
  pool.Intern("a");
  pool.Reserve(1000);
  EXPECT_EQ(pool.Find("a"), 0U);
  EXPECT_EQ(pool.size(), 1U);
}

}  // namespace
}  // namespace steelyard
