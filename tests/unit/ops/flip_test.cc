// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Flip, RollIsAConcatenationPerDimension) {
  EXPECT_THAT(NodesOf("aten::roll(f32[2,3], [1], [1])"),
              ElementsAre("narrow", "narrow", "cat", "drop", "drop"));
  EXPECT_EQ(ResultOf("aten::roll(f32[2,3], [1,2], [0,1])"), "f32[2,3]");
  EXPECT_THAT(NodesOf("aten::roll(f32[2,3], [1])"), Contains("view"));
}

TEST(Flip, KeepsTheLayout) {
  EXPECT_EQ(ResultOf("aten::flip(f32[2,3]{1,2}, [0])"), "f32[2,3]{1,2}");
  EXPECT_THAT(RefusalOf("aten::flip(f32[2], [1])"), HasSubstr("out of range"));
}

TEST(Flip, TurnsAreFlipsAndTransposes) {
  EXPECT_EQ(ResultOf("aten::rot90(f32[2,8])"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::rot90(f32[2,8], 2)"), "f32[2,8]");
}

}  // namespace
}  // namespace steelyard
