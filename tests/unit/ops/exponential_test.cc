// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Exponential, ExponentialsOfIntegersAreFloats) {
  EXPECT_EQ(ResultOf("aten::exp(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::log(f16[2,8])"), "f16[2,8]");
  EXPECT_EQ(WorkOf("aten::exp2(f32[2,8])").special, Count(2 * 8));
}

TEST(Exponential, InPlaceFunctionsAllocateNothing) {
  EXPECT_THAT(EventsOf("aten::exp_(f32[2,8])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::exp_(i64[2,8])"), HasSubstr("cannot be written"));
}

TEST(Exponential, SumsOfExponentialsAreOfFloats) {
  EXPECT_THAT(RefusalOf("aten::logaddexp(i64[2], i64[2])"), HasSubstr("floating-point"));
}

}  // namespace
}  // namespace steelyard
