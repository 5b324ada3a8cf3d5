// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PointwiseTernary, ThreeTensorsBroadcast) {
  EXPECT_EQ(ResultOf("aten::addcmul(f32[2,8], bf16[2,1], f32[8])"), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::addcdiv(f32[2,8], i64[2,1], i64[8])"),
              HasSubstr("does not divide integers"));
  EXPECT_THAT(RefusalOf("aten::lerp.Tensor(f32[2,8], f32[8], f64[8])"), HasSubstr("one dtype"));
}

TEST(PointwiseTernary, AllocatesNothing) {
  EXPECT_THAT(EventsOf("aten::addcmul_(f32[2,8], f32[2,8], f32[8])"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::lerp_.Scalar(f32[2,8], f32[2,8], 0.1)"), IsEmpty());
  EXPECT_EQ(WorkOf("aten::addcdiv_(f32[2,8], f32[2,8], f32[8])").alu, Count(3 * 2 * 8));
}

TEST(PointwiseTernary, OperandsMustBroadcast) {
  EXPECT_NE(RefusalOf("aten::addcmul_(f32[2,8], f32[3,8], f32[8])"), "");
}

}  // namespace
}  // namespace steelyard
