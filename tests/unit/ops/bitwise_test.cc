// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Bitwise, BitsOfFloatsAreRefused) {
  EXPECT_EQ(ResultOf("aten::bitwise_and.Tensor(i64[4], bool[4])"), "i64[4]");
  EXPECT_THAT(RefusalOf("aten::bitwise_and.Tensor(i64[4], f32[4])"), HasSubstr("f32[4]"));
  EXPECT_THAT(RefusalOf("aten::bitwise_not(f32[4])"), HasSubstr("integers or bool"));
}

TEST(Bitwise, BoolHasBitsAndNoShifts) {
  EXPECT_EQ(ResultOf("aten::bitwise_xor.Tensor(bool[4], bool[4])"), "bool[4]");
  EXPECT_THAT(RefusalOf("aten::bitwise_left_shift.Tensor(bool[4], bool[4])"), HasSubstr("shifted"));
}

TEST(Bitwise, APythonShiftMakesItsOutputByAFactory) {
  EXPECT_THAT(EventsOf("aten::__lshift__.Tensor(i64[5], i64[5])"),
              ElementsAre(Line(5 * 8, "empty")));
  EXPECT_THAT(EventsOf("aten::bitwise_left_shift.Tensor(i64[5], i64[5])"),
              ElementsAre(Line(5 * 8, "bitwise_left_shift")));
}

TEST(Bitwise, InPlaceTakesNoFloats) {
  EXPECT_THAT(RefusalOf("aten::bitwise_not_(f32[2,8])"), HasSubstr("f32"));
}

}  // namespace
}  // namespace steelyard
