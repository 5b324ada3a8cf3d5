// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Diagonal, GoesBothWays) {
  EXPECT_EQ(ResultOf("aten::diag(f32[3], 1)"), "f32[4,4]");
  EXPECT_EQ(ResultOf("aten::diag(f32[3,4])"), "f32[3]");
  EXPECT_EQ(ResultOf("aten::diagflat(f32[2,3], 1)"), "f32[7,7]");
}

TEST(Diagonal, BlocksStandOnIt) {
  EXPECT_THAT(EventsOf("aten::block_diag([f32[2,3], f32[4]])"),
              ElementsAre(Line((2 + 1) * (3 + 4) * 4, "empty")));
}

TEST(Diagonal, ATraceAddsItUp) {
  EXPECT_EQ(ResultOf("aten::trace(i32[3,4])"), "i64[]");
  EXPECT_EQ(WorkOf("aten::trace(i32[3,4])").alu, Count(3));
}

TEST(Diagonal, ATallMatrixIsFilledAgainBelowARowThatIsLeftOut) {
  // 3 elements; of 8 rows, those 4 to 6 begin again.
  EXPECT_EQ(TrafficOf("aten::fill_diagonal_(f32[8,3], 1)").written, Count(3 * 4));
  EXPECT_EQ(TrafficOf("aten::fill_diagonal_(f32[8,3], 1, True)").written, Count((3 + 3) * 4));
}

}  // namespace
}  // namespace steelyard
