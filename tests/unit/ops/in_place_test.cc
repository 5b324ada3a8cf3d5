// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(InPlace, NothingIsAllocatedForOperandsOfOneDtype) {
  EXPECT_THAT(EventsOf("aten::remainder_.Tensor(f32[2,8], f32[8])"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::erf_(f32[2,8])"), IsEmpty());
}

// Truth is not copied into a tensor of bool.
TEST(InPlace, ComparisonsInAnotherDtypeAreCopied) {
  constexpr int kWide = 2 * 8 * 4;
  EXPECT_THAT(EventsOf("aten::eq_.Tensor(i32[2,8], f32[2,8])"),
              ElementsAre(Line(kWide, "empty"), Line(kWide, "empty_strided"), Line(-kWide, "eq_"),
                          Line(-kWide, "eq_")));
  EXPECT_THAT(EventsOf("aten::eq_.Tensor(bool[2,8], f32[2,8])"),
              ElementsAre(Line(kWide, "empty_strided"), Line(-kWide, "eq_")));
}

TEST(InPlace, LimitsMayBeOneOfBoth) {
  EXPECT_THAT(EventsOf("aten::clamp_.Tensor(f32[2,8], None, f32[8])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::clamp_.Tensor(f32[2,8])"), HasSubstr("neither"));
}

TEST(InPlace, AResultMustFit) {
  EXPECT_THAT(RefusalOf("aten::tan_(i64[2,8])"), HasSubstr("cannot be written"));
  EXPECT_THAT(RefusalOf("aten::bitwise_not_(f32[2,8])"), HasSubstr("f32"));
}

}  // namespace
}  // namespace steelyard
