// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Clamp, ClampPromotesIntegersOnly) {
  EXPECT_EQ(ResultOf("aten::clamp(i64[5], 0.5, 1)"), "f32[5]");
  EXPECT_EQ(ResultOf("aten::clamp(bf16[5], 0.5, 1)"), "bf16[5]");
  EXPECT_EQ(WorkOf("aten::clamp(f32[5], 0, 1)").alu, Count(2 * 5));
  EXPECT_EQ(WorkOf("aten::clamp(f32[5], 0)").alu, Count(5));
  EXPECT_THAT(RefusalOf("aten::clamp(f32[5])"), HasSubstr("a minimum or a maximum"));
}

TEST(Clamp, BoundsMayBeMissing) {
  EXPECT_EQ(ResultOf("aten::clamp.Tensor(f32[2,8], None, f32[8])"), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::clamp.Tensor(f32[2,8])"), HasSubstr("a minimum or a maximum"));
}

TEST(Clamp, LimitsMayBeOneOfBoth) {
  EXPECT_THAT(EventsOf("aten::clamp_.Tensor(f32[2,8], None, f32[8])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::clamp_.Tensor(f32[2,8])"), HasSubstr("neither"));
}

}  // namespace
}  // namespace steelyard
