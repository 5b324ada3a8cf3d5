// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "../events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PointwiseRules, MathFunctionsOfIntegersAreFloats) {
  EXPECT_EQ(ResultOf("aten::sin(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::sin(c64[2,8])"), "c64[2,8]");
  EXPECT_EQ(WorkOf("aten::sin(f32[2,8])").special, Count(2 * 8));
}

TEST(PointwiseRules, RealFunctionsRefuseComplexNumbers) {
  EXPECT_THAT(RefusalOf("aten::lgamma(c64[2])"), HasSubstr("not defined for c64[2]"));
  EXPECT_THAT(RefusalOf("aten::fmod.Tensor(f32[2], c64[2])"), HasSubstr("complex numbers"));
}

TEST(PointwiseRules, InPlaceTheResultMustFit) {
  EXPECT_THAT(RefusalOf("aten::sin_(i64[2])"), HasSubstr("float32 cannot be written into i64[2]"));
  EXPECT_THAT(RefusalOf("aten::erf_(i64[2])"), HasSubstr("a floating-point tensor is needed"));
  EXPECT_THAT(RefusalOf("aten::floor_(f32[2,8]{0,1})"), HasSubstr("expanded"));
}

TEST(PointwiseRules, NothingIsAllocatedForOperandsOfOneDtype) {
  EXPECT_THAT(EventsOf("aten::remainder_.Tensor(f32[2,8], f32[8])"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::erf_(f32[2,8])"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
