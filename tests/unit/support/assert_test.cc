// SPDX-License-Identifier: Apache-2.0
#include "support/assert.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(AssertTest, HoldsSilentlyAndEvaluatesOnce) {
  int evaluations = 0;
  SY_ASSERT(++evaluations == 1, "the condition is evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(AssertDeathTest, SaysWhyAndWhereInOneLine) {
  EXPECT_DEATH(SY_ASSERT(1 + 1 == 3, "sums are right"),
               "^steelyard: internal error: sums are right \\(1 \\+ 1 == 3, "
               "assert_test.cc:[0-9]+\\)\\. Please report it\\.\n$");
}

TEST(AssertDeathTest, UnreachableSaysWhy) {
  EXPECT_DEATH(SY_UNREACHABLE("every unit has a suffix"), "every unit has a suffix");
}

}  // namespace
}  // namespace steelyard
