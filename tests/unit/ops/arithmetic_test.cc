// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Arithmetic, BroadcastsAndFollowsStrides) {
  EXPECT_EQ(ResultOf("aten::add.Tensor(f32[2,1,8], f32[3,1])"), "f32[2,3,8]");
  EXPECT_EQ(ResultOf("aten::mul.Tensor(f32[8,2]{1,8}, f32[8,2]{1,8})"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::neg(f32[4,3,8]{8,0,1})"), "f32[4,3,8]");
}

TEST(Arithmetic, OperandsOfAnotherDTypeAreCastFirst) {
  EXPECT_THAT(
      EventsOf("aten::add.Tensor(f32[2,8], bf16[8])"),
      ElementsAre(Line(8 * 4, "empty_strided"), Line(2 * 8 * 4, "add"), Line(-8 * 4, "add")));
  EXPECT_THAT(EventsOf("aten::add.Tensor(i32[4], i64[4])"),
              ElementsAre(Line(4 * 8, "empty_strided"), Line(4 * 8, "add"), Line(-4 * 8, "add")));
}

TEST(Arithmetic, CastsDieLastFirst) {
  EXPECT_THAT(EventsOf("aten::div.Tensor(i64[2,8], i64[8])"),
              ElementsAre(Line(2 * 8 * 4, "empty_strided"), Line(8 * 4, "empty_strided"),
                          Line(2 * 8 * 4, "div"), Line(-8 * 4, "div"), Line(-2 * 8 * 4, "div")));
}

TEST(Arithmetic, ANumberIsBoxedByTheCaller) {
  // 8 bytes for the number, the width of the common dtype for its cast.
  EXPECT_THAT(EventsOf("aten::mul.Tensor(bf16[2,8], 2.5)"),
              ElementsAre(Line(8, ""), Line(2, "empty_strided"), Line(2 * 8 * 2, "mul"),
                          Line(-2, "mul"), Line(-8, "mul")));
  EXPECT_THAT(EventsOf("aten::add.Tensor(i64[5], 1)"),
              ElementsAre(Line(8, ""), Line(5 * 8, "add"), Line(-8, "add")));
}

TEST(Arithmetic, ScalarOverloadsBoxItThemselves) {
  EXPECT_THAT(EventsOf("aten::add.Scalar(f32[5], 1)"),
              ElementsAre(Line(8, "add"), Line(4, "empty_strided"), Line(5 * 4, "add"),
                          Line(-4, "add"), Line(-8, "add")));
  EXPECT_THAT(EventsOf("aten::rsub.Scalar(f32[5], 1)"),
              ElementsAre(Line(8, "rsub"), Line(4, "empty_strided"), Line(5 * 4, "sub"),
                          Line(-4, "sub"), Line(-8, "rsub")));
}

TEST(Arithmetic, OverwritingANarrowerTensorNeedsABuffer) {
  EXPECT_THAT(EventsOf("aten::add_.Tensor(f16[2,8], f32[2,8])"),
              ElementsAre(Line(2 * 8 * 4, "empty"), Line(2 * 8 * 4, "empty_strided"),
                          Line(-2 * 8 * 4, "add_"), Line(-2 * 8 * 4, "add_")));
  EXPECT_THAT(EventsOf("aten::add_.Tensor(f32[2,8], f32[8])"), IsEmpty());
}

TEST(Arithmetic, RefusesWhatCannotBeWritten) {
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(i64[2], f32[2])"),
              HasSubstr("float32 cannot be written into i64[2]"));
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(f32[8], f32[2,8])"), HasSubstr("shape [2, 8]"));
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(f32[2,8]{0,1}, f32[8])"), HasSubstr("expanded"));
}

TEST(Arithmetic, RefusesShapesThatDoNotBroadcast) {
  EXPECT_THAT(RefusalOf("aten::add.Tensor(f32[2,3], f32[4])"), HasSubstr("[2, 3] and [4]"));
}

TEST(Arithmetic, RefusesToSubtractBool) {
  EXPECT_THAT(RefusalOf("aten::sub.Tensor(bool[2], i64[2])"),
              HasSubstr("bool cannot be subtracted"));
}

TEST(Arithmetic, FloorDivideAllocatesThroughAFactory) {
  EXPECT_THAT(EventsOf("aten::floor_divide.Scalar(i64[5], 3)"),
              ElementsAre(Line(8, "floor_divide"), Line(5 * 8, "empty"), Line(-8, "floor_divide")));
  EXPECT_EQ(ResultOf("aten::floor_divide(i64[5], 2.0)"), "f32[5]");
}

TEST(Arithmetic, RoundedDivisionKeepsIntegers) {
  EXPECT_EQ(ResultOf("aten::div.Tensor_mode(i64[5], i64[5], rounding_mode='floor')"), "i64[5]");
  EXPECT_EQ(ResultOf("aten::div.Tensor_mode(i64[5], i64[5], rounding_mode=None)"), "f32[5]");
}

TEST(Arithmetic, DivisorsAreOfIntegers) {
  EXPECT_THAT(RefusalOf("aten::gcd(f32[2], f32[2])"), HasSubstr("f32[2]"));
}

TEST(Arithmetic, SignsNeedNothing) {
  EXPECT_THAT(EventsOf("aten::sgn_(f32[2,8])"), IsEmpty());
  EXPECT_EQ(WorkOf("aten::sgn_(f32[2,8])").compare, Count(2 * 8));
}

TEST(Arithmetic, OtherNamesCallTheOperator) {
  EXPECT_THAT(NodesOf("aten::multiply.Tensor(f32[2], f32[2])"), ElementsAre("mul.Tensor"));
}

TEST(Arithmetic, TrafficIsEveryOperandOnce) {
  const Traffic traffic = TrafficOf("aten::add.Tensor(f32[2,8], bf16[8])");
  EXPECT_EQ(traffic.read, Count(2 * 8 * 4 + 8 * 2));
  EXPECT_EQ(traffic.written, Count(2 * 8 * 4));
}

}  // namespace
}  // namespace steelyard
