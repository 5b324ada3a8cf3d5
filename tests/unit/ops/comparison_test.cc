// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Comparison, GivesBool) {
  EXPECT_EQ(ResultOf("aten::eq.Tensor(f32[2,8], i64[8])"), "bool[2,8]");
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

// Truth is not copied into a tensor of bool.
TEST(Comparison, ComparisonsInAnotherDtypeAreCopied) {
  constexpr int kWide = 2 * 8 * 4;
  EXPECT_THAT(EventsOf("aten::eq_.Tensor(i32[2,8], f32[2,8])"),
              ElementsAre(Line(kWide, "empty"), Line(kWide, "empty_strided"), Line(-kWide, "eq_"),
                          Line(-kWide, "eq_")));
  EXPECT_THAT(EventsOf("aten::eq_.Tensor(bool[2,8], f32[2,8])"),
              ElementsAre(Line(kWide, "empty_strided"), Line(-kWide, "eq_")));
}

TEST(Comparison, ComparisonsAreNoArithmetic) {
  EXPECT_EQ(WorkOf("aten::lt.Tensor(f32[2,8], f32[8])").compare, Count(2 * 8));
  EXPECT_EQ(WorkOf("aten::lt.Tensor(f32[2,8], f32[8])").alu, Count(0));
}

TEST(Comparison, OtherNamesOfAnExtreme) {
  EXPECT_THAT(NodesOf("aten::min.other(f32[2], f32[2])"), ElementsAre("minimum"));
}

}  // namespace
}  // namespace steelyard
