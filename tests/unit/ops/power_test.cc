// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Power, PowOfANumberMakesItsOutputFirst) {
  EXPECT_THAT(EventsOf("aten::pow.Scalar(2.0, i64[5])"),
              ElementsAre(Line(5 * 4, "pow"), Line(8, "pow"), Line(4, "empty_strided"),
                          Line(5 * 4, "empty_strided"), Line(-5 * 4, "pow"), Line(-4, "pow"),
                          Line(-8, "pow")));
  EXPECT_THAT(EventsOf("aten::pow.Scalar(1, f32[5])"), ElementsAre(Line(5 * 4, "pow")));
}

TEST(Power, SmallPowersAreProducts) {
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 2)").alu, Count(5));
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 3)").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 0.5)").special, Count(5));
  EXPECT_THAT(RefusalOf("aten::pow.Tensor_Scalar(i64[5], -1)"), HasSubstr("negative power"));
}

TEST(Power, WholeExponentsAreAddedWithoutATemporary) {
  EXPECT_THAT(EventsOf("aten::ldexp.Tensor(f16[2,8], i64[8])"),
              ElementsAre(Line(2 * 8 * 2, "empty_strided")));
  EXPECT_EQ(ResultOf("aten::ldexp.Tensor(i64[2,8], i64[8])"), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::ldexp.Tensor(f32[2,8], bool[8])"), HasSubstr("not bool"));
}

TEST(Power, FloatPowersAreDouble) {
  EXPECT_EQ(ResultOf("aten::float_power.Tensor_Tensor(f32[2,8], i64[8])"), "f64[2,8]");
}

}  // namespace
}  // namespace steelyard
