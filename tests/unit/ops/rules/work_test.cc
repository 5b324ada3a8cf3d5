// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/work.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(Work, TimesMultipliesEachKind) {
  const Work work = work::Times({.alu = 4, .special = 1, .compare = 2, .move = 3}, 10);
  EXPECT_EQ(work.alu, Count(4 * 10));
  EXPECT_EQ(work.special, Count(1 * 10));
  EXPECT_EQ(work.compare, Count(2 * 10));
  EXPECT_EQ(work.move, Count(3 * 10));
  EXPECT_EQ(work.mac, Count(0));
}

TEST(Work, SumsAddEachKind) {
  const Work work = Work{.mac = 1, .alu = 2} + Work{.mac = 3, .special = 4, .move = 5};
  EXPECT_EQ(work.mac, Count(1 + 3));
  EXPECT_EQ(work.alu, Count(2));
  EXPECT_EQ(work.special, Count(4));
  EXPECT_EQ(work.move, Count(5));
}

TEST(Work, ElementsRememberThatTheyDidNotFit) {
  EXPECT_EQ(work::Elements(Dims{2, 3, 8}), Count(2 * 3 * 8));
  EXPECT_EQ(work::Elements(Dims{}), Count(1));
  EXPECT_TRUE(work::Elements(Dims{std::int64_t{1} << 40, std::int64_t{1} << 40}).overflowed());
}

}  // namespace
}  // namespace steelyard
