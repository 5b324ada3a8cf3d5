// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

TEST(Integration, AnIntegralLosesItsDimension) {
  EXPECT_EQ(ResultOf("aten::trapezoid.x(f32[2,8], f32[8])"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::cumulative_trapezoid.dx(f32[2,8])"), "f32[2,7]");
}

TEST(Integration, ARunningIntegralLosesASample) {
  EXPECT_EQ(ResultOf("aten::cumulative_trapezoid.x(f32[2,8], f32[8])"), "f32[2,7]");
}

}  // namespace
}  // namespace steelyard
