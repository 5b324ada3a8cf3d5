// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Rounding, IntegersStayWhatTheyAre) {
  EXPECT_EQ(ResultOf("aten::floor(i64[2,8])"), "i64[2,8]");
  EXPECT_EQ(WorkOf("aten::trunc(f32[2,8])").move, Count(2 * 8));
}

TEST(Rounding, OnlyFloatsHaveDecimals) {
  EXPECT_THAT(RefusalOf("aten::round.decimals(i64[2], decimals=2)"), HasSubstr("floating-point"));
  EXPECT_THAT(EventsOf("aten::round_.decimals(f32[2,8], decimals=2)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
