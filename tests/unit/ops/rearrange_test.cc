// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Rearrange, PadsFromTheLastDimension) {
  EXPECT_EQ(ResultOf("aten::constant_pad_nd(f32[2,3,4], [1,2])"), "f32[2,3,7]");       // 4 + 1 + 2
  EXPECT_EQ(ResultOf("aten::constant_pad_nd(f32[2,3,4], [1,-1,0,3])"), "f32[2,6,4]");  // 3 + 3
  EXPECT_EQ(ResultOf("aten::pad(f32[2,3,4], [2,2], 'reflect')"), "f32[2,3,8]");
}

TEST(Rearrange, CuttingAloneIsACopyOfAView) {
  EXPECT_THAT(NodesOf("aten::constant_pad_nd(f32[2,3,4], [-1,0])"),
              ElementsAre("narrow", "clone", "drop"));
}

TEST(Rearrange, ChannelsLastImagesStaySo) {
  EXPECT_EQ(ResultOf("aten::pad(f32[2,3,8,8]{192,1,24,3}, [1,1,0,0])"),
            "f32[2,3,8,10]{240,1,30,3}");
}

TEST(Rearrange, RefusesWhatCannotBePadded) {
  EXPECT_THAT(RefusalOf("aten::constant_pad_nd(f32[4], [1,1,1,1])"), HasSubstr("does not fit"));
  EXPECT_THAT(RefusalOf("aten::constant_pad_nd(f32[4], [-3,-2])"), HasSubstr("leaves no elements"));
  EXPECT_THAT(RefusalOf("aten::pad(f32[4], [1,1], 'mirror')"),
              HasSubstr("padding mode \"mirror\""));
}

TEST(Rearrange, RepeatMultipliesSizes) {
  EXPECT_EQ(ResultOf("aten::repeat(f32[2,3], [4,1,2])"), "f32[4,2,6]");
  EXPECT_THAT(RefusalOf("aten::repeat(f32[2,3], [4])"), HasSubstr("too few"));
}

TEST(Rearrange, RollIsAConcatenationPerDimension) {
  EXPECT_THAT(NodesOf("aten::roll(f32[2,3], [1], [1])"),
              ElementsAre("narrow", "narrow", "cat", "drop", "drop"));
  EXPECT_EQ(ResultOf("aten::roll(f32[2,3], [1,2], [0,1])"), "f32[2,3]");
  EXPECT_THAT(NodesOf("aten::roll(f32[2,3], [1])"), Contains("view"));
}

TEST(Rearrange, FlipKeepsTheLayout) {
  EXPECT_EQ(ResultOf("aten::flip(f32[2,3]{1,2}, [0])"), "f32[2,3]{1,2}");
  EXPECT_THAT(RefusalOf("aten::flip(f32[2], [1])"), HasSubstr("out of range"));
}

TEST(Turns, AreFlipsAndTransposes) {
  EXPECT_EQ(ResultOf("aten::rot90(f32[2,8])"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::rot90(f32[2,8], 2)"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::diagflat(f32[2,3], 1)"), "f32[7,7]");
}

TEST(Sequences, ArePaddedToTheLongest) {
  EXPECT_EQ(ResultOf("aten::pad_sequence([f32[3,4],f32[5,4]], True)"), "f32[2,5,4]");
  EXPECT_EQ(ResultOf("aten::pad_sequence([f32[3,4],f32[5,4]])"), "f32[5,2,4]");
}

}  // namespace
}  // namespace steelyard
