// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Special, IntegersBecomeFloats) {
  EXPECT_EQ(ResultOf("aten::cosh(i64[2,8])"), "f32[2,8]");
  EXPECT_EQ(WorkOf("aten::cosh(i64[2,8])").special, Count(2 * 8));
}

TEST(Special, InPlaceFunctionsAllocateNothing) {
  EXPECT_THAT(EventsOf("aten::exp_(f32[2,8])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::exp_(i64[2,8])"), HasSubstr("cannot be written"));
}

TEST(Special, FiniteNumbersAreNumbersBelowInfinity) {
  EXPECT_THAT(NodesOf("aten::isfinite(f32[2])"),
              ElementsAre("abs", "ne.Scalar", "eq.Tensor", "mul.Tensor", "drop", "drop", "drop"));
  EXPECT_EQ(ResultOf("aten::isfinite(i64[2])"), "bool[2]");
}

TEST(Special, BoundsMayBeMissing) {
  EXPECT_EQ(ResultOf("aten::clamp.Tensor(f32[2,8], None, f32[8])"), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::clamp.Tensor(f32[2,8])"), HasSubstr("a minimum or a maximum"));
}

TEST(Special, ThreeTensorsBroadcast) {
  EXPECT_EQ(ResultOf("aten::addcmul(f32[2,8], bf16[2,1], f32[8])"), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::addcdiv(f32[2,8], i64[2,1], i64[8])"),
              HasSubstr("does not divide integers"));
  EXPECT_THAT(RefusalOf("aten::lerp.Tensor(f32[2,8], f32[8], f64[8])"), HasSubstr("one dtype"));
}

TEST(Prelu, WeightsBelongToChannels) {
  EXPECT_THAT(NodesOf("aten::prelu(f32[2,3,8], f32[3])"),
              ElementsAre("view", "_prelu_kernel", "drop"));
  EXPECT_THAT(RefusalOf("aten::prelu(f32[2,3,8], f32[4])"), HasSubstr("3 vs 4"));
}

}  // namespace
}  // namespace steelyard
