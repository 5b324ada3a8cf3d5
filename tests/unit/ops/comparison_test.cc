// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Comparison, GivesBool) {
  EXPECT_EQ(ResultOf("aten::eq.Tensor(f32[2,8], i64[8])"), "bool[2,8]");
  EXPECT_EQ(ResultOf("aten::logical_not(f32[8,2]{1,8})"), "bool[8,2]{1,8}");
}

TEST(Comparison, TheBoxOfANumberDiesBeforeItsCast) {
  EXPECT_THAT(EventsOf("aten::gt.Scalar(f32[5], 0)"),
              ElementsAre(Line(8, "gt"), Line(4, "empty_strided"), Line(5, "gt"), Line(-8, "gt"),
                          Line(-4, "gt")));
  EXPECT_THAT(EventsOf("aten::eq.Scalar(i64[5], 2)"),
              ElementsAre(Line(8, "eq"), Line(5, "eq"), Line(-8, "eq")));
  EXPECT_THAT(EventsOf("aten::eq.Scalar(bool[5], True)"),
              ElementsAre(Line(1, "eq"), Line(5, "eq"), Line(-1, "eq")));
}

TEST(Comparison, IntegersAreCastToCompareWithAFraction) {
  EXPECT_THAT(EventsOf("aten::eq.Scalar(i64[5], 2.5)"),
              ElementsAre(Line(8, "eq"), Line(5 * 4, "empty_strided"), Line(4, "empty_strided"),
                          Line(5, "eq"), Line(-8, "eq"), Line(-4, "eq"), Line(-5 * 4, "eq")));
}

TEST(Comparison, BitsOfFloatsAreRefused) {
  EXPECT_EQ(ResultOf("aten::bitwise_and.Tensor(i64[4], bool[4])"), "i64[4]");
  EXPECT_THAT(RefusalOf("aten::bitwise_and.Tensor(i64[4], f32[4])"), HasSubstr("f32[4]"));
  EXPECT_THAT(RefusalOf("aten::bitwise_not(f32[4])"), HasSubstr("integers or bool"));
}

TEST(Comparison, WherePromotesItsChoicesOnly) {
  EXPECT_EQ(ResultOf("aten::where.self(bool[2,8], f32[8], f64[])"), "f32[2,8]");
  EXPECT_THAT(
      EventsOf("aten::where.self(bool[5], bf16[5], f32[5])"),
      ElementsAre(Line(5 * 4, "empty_strided"), Line(5 * 4, "where"), Line(-5 * 4, "where")));
  EXPECT_THAT(RefusalOf("aten::where.self(f32[5], f32[5], f32[5])"), HasSubstr("must be bool"));
}

TEST(Comparison, WhereMakesATensorOfANumber) {
  EXPECT_THAT(EventsOf("aten::where.ScalarOther(bool[5], i64[5], 0.0)"),
              ElementsAre(Line(4, "scalar_tensor"), Line(5 * 4, "empty_strided"),
                          Line(5 * 4, "where"), Line(-5 * 4, "where"), Line(-4, "where")));
  EXPECT_THAT(EventsOf("aten::where.ScalarSelf(bool[5], 1.0, f16[5])"),
              ElementsAre(Line(2, "scalar_tensor"), Line(5 * 2, "where"), Line(-2, "where")));
}

TEST(Comparison, MaskedFillCopiesRowMajor) {
  EXPECT_EQ(ResultOf("aten::masked_fill.Scalar(f32[8,2]{1,8}, bool[8,2], 0)"), "f32[8,2]");
  EXPECT_THAT(EventsOf("aten::masked_fill.Scalar(f32[8], bool[2,8], 0)"),
              ElementsAre(Line(2 * 8 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::masked_fill_.Scalar(f32[2,8], bool[8], 0)"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::masked_fill_.Scalar(f32[8], bool[2,8], 0)"),
              HasSubstr("more dimensions"));
}

TEST(Comparison, ComparisonsAreNoArithmetic) {
  EXPECT_EQ(WorkOf("aten::lt.Tensor(f32[2,8], f32[8])").compare, Count(2 * 8));
  EXPECT_EQ(WorkOf("aten::lt.Tensor(f32[2,8], f32[8])").alu, Count(0));
  EXPECT_EQ(WorkOf("aten::logical_and(bool[8], bool[8])").alu, Count(8));
}

}  // namespace
}  // namespace steelyard
