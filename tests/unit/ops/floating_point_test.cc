// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FloatingPoint, FiniteNumbersAreNumbersBelowInfinity) {
  EXPECT_THAT(NodesOf("aten::isfinite(f32[2])"),
              ElementsAre("abs", "ne.Scalar", "eq.Tensor", "mul.Tensor", "drop", "drop", "drop"));
  EXPECT_EQ(ResultOf("aten::isfinite(i64[2])"), "bool[2]");
}

TEST(FloatingPoint, SignsAreOfRealNumbers) {
  EXPECT_EQ(ResultOf("aten::signbit(f32[2,8])"), "bool[2,8]");
  EXPECT_THAT(RefusalOf("aten::signbit(c64[2])"), HasSubstr("not defined"));
  EXPECT_EQ(ResultOf("aten::copysign.Tensor(i64[2], i64[2])"), "f32[2]");
}

}  // namespace
}  // namespace steelyard
