// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SpecialFunctions, IntegersBecomeFloats) {
  EXPECT_EQ(ResultOf("aten::special_entr(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(WorkOf("aten::special_zeta(f32[2,8], f32[8])").special, Count(2 * 8));
  EXPECT_THAT(RefusalOf("aten::special_i0e(c64[2])"), HasSubstr("not defined"));
}

TEST(SpecialFunctions, AMultivariateGammaAddsUpLogarithms) {
  EXPECT_THAT(NodesOf("aten::mvlgamma(f32[2,8], 2)"), Contains("lgamma_"));
  EXPECT_THAT(RefusalOf("aten::mvlgamma(f32[2,8], 0)"), HasSubstr("counts dimensions"));
}

TEST(SpecialFunctions, AFunctionDoesNotFitIntoIntegers) {
  EXPECT_THAT(EventsOf("aten::erf_(f32[2,8])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::lgamma_(i64[2,8])"), HasSubstr("floating-point"));
}

}  // namespace
}  // namespace steelyard
