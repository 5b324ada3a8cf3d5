// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Update, AllocatesNothing) {
  EXPECT_THAT(EventsOf("aten::addcmul_(f32[2,8], f32[2,8], f32[8])"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::lerp_.Scalar(f32[2,8], f32[2,8], 0.1)"), IsEmpty());
  EXPECT_EQ(WorkOf("aten::addcdiv_(f32[2,8], f32[2,8], f32[8])").alu, Count(3 * 2 * 8));
}

TEST(Update, OperandsMustBroadcast) {
  EXPECT_NE(RefusalOf("aten::addcmul_(f32[2,8], f32[3,8], f32[8])"), "");
}

TEST(Update, SignsNeedNothing) {
  EXPECT_THAT(EventsOf("aten::sgn_(f32[2,8])"), IsEmpty());
  EXPECT_EQ(WorkOf("aten::sgn_(f32[2,8])").compare, Count(2 * 8));
}

}  // namespace
}  // namespace steelyard
