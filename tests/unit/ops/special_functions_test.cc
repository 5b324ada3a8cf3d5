// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SpecialFunctions, IntegersBecomeFloats) {
  EXPECT_EQ(ResultOf("aten::special_entr(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(WorkOf("aten::special_zeta(f32[2,8], f32[8])").special, Count(2 * 8));
  EXPECT_THAT(RefusalOf("aten::special_i0e(c64[2])"), HasSubstr("not defined"));
}

TEST(SpecialFunctions, AnglesAreScaledIntoWhatWasMadeFirst) {
  EXPECT_THAT(EventsOf("aten::deg2rad(f32[3])"),
              ElementsAre(Line(3 * 4, "empty_strided"), Line(8, "deg2rad"),
                          Line(4, "empty_strided"), Line(-4, "mul"), Line(-8, "deg2rad")));
}

TEST(SpecialFunctions, PowersAreDouble) {
  EXPECT_EQ(ResultOf("aten::float_power.Tensor_Tensor(f32[2,8], i64[8])"), "f64[2,8]");
  EXPECT_THAT(RefusalOf("aten::gcd(f32[2], f32[2])"), HasSubstr("f32[2]"));
}

}  // namespace
}  // namespace steelyard
