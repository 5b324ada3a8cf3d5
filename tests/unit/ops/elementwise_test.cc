// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Elementwise, BroadcastsAndFollowsStrides) {
  EXPECT_EQ(ResultOf("aten::add.Tensor(f32[2,1,8], f32[3,1])"), "f32[2,3,8]");
  EXPECT_EQ(ResultOf("aten::mul.Tensor(f32[8,2]{1,8}, f32[8,2]{1,8})"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::neg(f32[4,3,8]{8,0,1})"), "f32[4,3,8]");
}

TEST(Elementwise, OperandsOfAnotherDTypeAreCastFirst) {
  EXPECT_THAT(
      EventsOf("aten::add.Tensor(f32[2,8], bf16[8])"),
      ElementsAre(Line(8 * 4, "empty_strided"), Line(2 * 8 * 4, "add"), Line(-8 * 4, "add")));
  EXPECT_THAT(EventsOf("aten::add.Tensor(i32[4], i64[4])"),
              ElementsAre(Line(4 * 8, "empty_strided"), Line(4 * 8, "add"), Line(-4 * 8, "add")));
}

TEST(Elementwise, CastsDieLastFirst) {
  EXPECT_THAT(EventsOf("aten::div.Tensor(i64[2,8], i64[8])"),
              ElementsAre(Line(2 * 8 * 4, "empty_strided"), Line(8 * 4, "empty_strided"),
                          Line(2 * 8 * 4, "div"), Line(-8 * 4, "div"), Line(-2 * 8 * 4, "div")));
}

TEST(Elementwise, ANumberIsBoxedByTheCaller) {
  // 8 bytes for the number, the width of the common dtype for its cast.
  EXPECT_THAT(EventsOf("aten::mul.Tensor(bf16[2,8], 2.5)"),
              ElementsAre(Line(8, ""), Line(2, "empty_strided"), Line(2 * 8 * 2, "mul"),
                          Line(-2, "mul"), Line(-8, "mul")));
  EXPECT_THAT(EventsOf("aten::add.Tensor(i64[5], 1)"),
              ElementsAre(Line(8, ""), Line(5 * 8, "add"), Line(-8, "add")));
}

TEST(Elementwise, ScalarOverloadsBoxItThemselves) {
  EXPECT_THAT(EventsOf("aten::add.Scalar(f32[5], 1)"),
              ElementsAre(Line(8, "add"), Line(4, "empty_strided"), Line(5 * 4, "add"),
                          Line(-4, "add"), Line(-8, "add")));
  EXPECT_THAT(EventsOf("aten::rsub.Scalar(f32[5], 1)"),
              ElementsAre(Line(8, "rsub"), Line(4, "empty_strided"), Line(5 * 4, "sub"),
                          Line(-4, "sub"), Line(-8, "rsub")));
}

TEST(Elementwise, OverwritingANarrowerTensorNeedsABuffer) {
  EXPECT_THAT(EventsOf("aten::add_.Tensor(f16[2,8], f32[2,8])"),
              ElementsAre(Line(2 * 8 * 4, "empty"), Line(2 * 8 * 4, "empty_strided"),
                          Line(-2 * 8 * 4, "add_"), Line(-2 * 8 * 4, "add_")));
  EXPECT_THAT(EventsOf("aten::add_.Tensor(f32[2,8], f32[8])"), IsEmpty());
}

TEST(Elementwise, RefusesWhatCannotBeWritten) {
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(i64[2], f32[2])"),
              HasSubstr("float32 cannot be written into i64[2]"));
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(f32[8], f32[2,8])"), HasSubstr("shape [2, 8]"));
  EXPECT_THAT(RefusalOf("aten::add_.Tensor(f32[2,8]{0,1}, f32[8])"), HasSubstr("expanded"));
}

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  EXPECT_THAT(RefusalOf("aten::add.Tensor(f32[2,3], f32[4])"), HasSubstr("[2, 3] and [4]"));
}

TEST(Elementwise, RefusesToSubtractBool) {
  EXPECT_THAT(RefusalOf("aten::sub.Tensor(bool[2], i64[2])"),
              HasSubstr("bool cannot be subtracted"));
}

TEST(Elementwise, SpecialFunctionsOfIntegersAreFloats) {
  EXPECT_EQ(ResultOf("aten::exp(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::sqrt(f16[2,8])"), "f16[2,8]");
  EXPECT_EQ(ResultOf("aten::floor(i64[2,8])"), "i64[2,8]");
}

TEST(Elementwise, FloorDivideAllocatesThroughAFactory) {
  EXPECT_THAT(EventsOf("aten::floor_divide.Scalar(i64[5], 3)"),
              ElementsAre(Line(8, "floor_divide"), Line(5 * 8, "empty"), Line(-8, "floor_divide")));
  EXPECT_EQ(ResultOf("aten::floor_divide(i64[5], 2.0)"), "f32[5]");
}

TEST(Elementwise, RoundedDivisionKeepsIntegers) {
  EXPECT_EQ(ResultOf("aten::div.Tensor_mode(i64[5], i64[5], rounding_mode='floor')"), "i64[5]");
  EXPECT_EQ(ResultOf("aten::div.Tensor_mode(i64[5], i64[5], rounding_mode=None)"), "f32[5]");
}

TEST(Elementwise, PowOfANumberMakesItsOutputFirst) {
  EXPECT_THAT(EventsOf("aten::pow.Scalar(2.0, i64[5])"),
              ElementsAre(Line(5 * 4, "pow"), Line(8, "pow"), Line(4, "empty_strided"),
                          Line(5 * 4, "empty_strided"), Line(-5 * 4, "pow"), Line(-4, "pow"),
                          Line(-8, "pow")));
  EXPECT_THAT(EventsOf("aten::pow.Scalar(1, f32[5])"), ElementsAre(Line(5 * 4, "pow")));
}

TEST(Elementwise, SmallPowersAreProducts) {
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 2)").alu, Count(5));
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 3)").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::pow.Tensor_Scalar(f32[5], 0.5)").special, Count(5));
  EXPECT_THAT(RefusalOf("aten::pow.Tensor_Scalar(i64[5], -1)"), HasSubstr("negative power"));
}

TEST(Elementwise, ClampPromotesIntegersOnly) {
  EXPECT_EQ(ResultOf("aten::clamp(i64[5], 0.5, 1)"), "f32[5]");
  EXPECT_EQ(ResultOf("aten::clamp(bf16[5], 0.5, 1)"), "bf16[5]");
  EXPECT_EQ(WorkOf("aten::clamp(f32[5], 0, 1)").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::clamp(f32[5], 0)").alu, Count(5));
  EXPECT_THAT(RefusalOf("aten::clamp(f32[5])"), HasSubstr("a minimum or a maximum"));
}

TEST(Elementwise, OtherNamesOfAnOperator) {
  EXPECT_THAT(NodesOf("aten::multiply.Tensor(f32[2], f32[2])"), ElementsAre("mul.Tensor"));
  EXPECT_THAT(NodesOf("aten::min.other(f32[2], f32[2])"), ElementsAre("minimum"));
}

TEST(Elementwise, TrafficIsEveryOperandOnce) {
  const Traffic traffic = TrafficOf("aten::add.Tensor(f32[2,8], bf16[8])");
  EXPECT_EQ(traffic.read, Count(2 * 8 * 4 + 8 * 2));
  EXPECT_EQ(traffic.written, Count(2 * 8 * 4));
}

}  // namespace
}  // namespace steelyard
