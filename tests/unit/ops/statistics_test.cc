// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Moments, ReduceDimensions) {
  EXPECT_EQ(ResultOf("aten::var.correction(f32[2,3,8], [1], keepdim=True)"), "f32[2,1,8]");
  EXPECT_EQ(ResultOf("aten::std_mean.correction(f32[2,3,8], [0,2])", 1), "f32[3]");
  EXPECT_THAT(RefusalOf("aten::var(i64[2,3])"), HasSubstr("floating-point"));
}

TEST(Moments, OneVarianceIsMadeFromTheMean) {
  // A mean, the boxed count and the count as a float.
  EXPECT_THAT(
      EventsOf("aten::var(f32[2,8])"),
      ElementsAre(Line(4, "var"), Line(4, "mean"), Line(8, "div_"), Line(4, "empty_strided"),
                  Line(-4, "div_"), Line(-8, "div_"), Line(-4, "var")));
  EXPECT_THAT(EventsOf("aten::var(bf16[2,8])"), ElementsAre(Line(2, "var")));
}

TEST(LogSumExp, KeepsTheLargestUntilTheEnd) {
  const std::string last = EventsOf("aten::logsumexp(f32[2,3,8], [1])").back();
  EXPECT_EQ(last, Line(-2 * 8 * 4, "logsumexp"));
  EXPECT_EQ(ResultOf("aten::logsumexp(i64[2,3], [1], True)"), "f32[2,1]");
}

TEST(OrderStatistics, NeedElements) {
  EXPECT_EQ(ResultOf("aten::aminmax(f32[2,8], dim=1)", 1), "f32[2]");
  EXPECT_THAT(RefusalOf("aten::aminmax(f32[2,0])"), HasSubstr("no element"));
  EXPECT_EQ(ResultOf("aten::median.dim(f32[2,8], 0, True)", 1), "i64[1,8]");
}

// Real and imaginary parts have a variance each, which are added.
TEST(Moments, OfComplexNumbersAreReal) {
  EXPECT_EQ(ResultOf("aten::var.correction(c64[3,8], [1])"), "f32[3]");
  EXPECT_THAT(EventsOf("aten::var.correction(c64[3,8], [1])"),
              ElementsAre(Line(3 * 4, "var"), Line(3 * 4, "var"), Line(3 * 4, "add"),
                          Line(-3 * 4, "var"), Line(-3 * 4, "var")));
  EXPECT_EQ(ResultOf("aten::logsumexp(c64[3,8], [1])"), "c64[3]");
}

TEST(Covariances, VariablesAreRows) {
  EXPECT_EQ(ResultOf("aten::cov(f32[3,8])"), "f32[3,3]");
  EXPECT_EQ(WorkOf("aten::cov(f32[3,8])").mac, Count(3 * 3 * 8));
}

}  // namespace
}  // namespace steelyard
