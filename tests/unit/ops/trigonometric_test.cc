// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Trigonometric, IntegersBecomeFloats) {
  EXPECT_EQ(ResultOf("aten::cosh(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(WorkOf("aten::cosh(i64[2,8])").special, Count(2 * 8));
}

TEST(Trigonometric, AnglesAreScaledIntoWhatWasMadeFirst) {
  EXPECT_THAT(EventsOf("aten::deg2rad(f32[3])"),
              ElementsAre(Line(3 * 4, "empty_strided"), Line(8, "deg2rad"),
                          Line(4, "empty_strided"), Line(-4, "mul"), Line(-8, "deg2rad")));
}

TEST(Trigonometric, AFunctionDoesNotFitIntoIntegers) {
  EXPECT_THAT(RefusalOf("aten::tan_(i64[2,8])"), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace steelyard
