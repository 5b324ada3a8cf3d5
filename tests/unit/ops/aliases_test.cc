// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

TEST(Aliases, DoWhatTheOperatorTheyNameDoes) {
  EXPECT_EQ(EventsOf("aten::greater.Scalar(f32[2,8], 0)"),
            EventsOf("aten::gt.Scalar(f32[2,8], 0)"));
  EXPECT_EQ(EventsOf("aten::special_expit(f32[2,8])"), EventsOf("aten::sigmoid(f32[2,8])"));
  EXPECT_EQ(WorkOf("aten::linalg_matmul(f32[2,3], f32[3,5])").mac, Count(2 * 3 * 5));
}

}  // namespace
}  // namespace steelyard
