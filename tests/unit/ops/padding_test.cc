// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Padding, PadsFromTheLastDimension) {
  EXPECT_EQ(ResultOf("aten::constant_pad_nd(f32[2,3,4], [1,2])"), "f32[2,3,7]");       // 4 + 1 + 2
  EXPECT_EQ(ResultOf("aten::constant_pad_nd(f32[2,3,4], [1,-1,0,3])"), "f32[2,6,4]");  // 3 + 3
  EXPECT_EQ(ResultOf("aten::pad(f32[2,3,4], [2,2], 'reflect')"), "f32[2,3,8]");
}

TEST(Padding, CuttingAloneIsACopyOfAView) {
  EXPECT_THAT(NodesOf("aten::constant_pad_nd(f32[2,3,4], [-1,0])"),
              ElementsAre("narrow", "clone", "drop"));
}

TEST(Padding, ChannelsLastImagesStaySo) {
  EXPECT_EQ(ResultOf("aten::pad(f32[2,3,8,8]{192,1,24,3}, [1,1,0,0])"),
            "f32[2,3,8,10]{240,1,30,3}");
}

TEST(Padding, RefusesWhatCannotBePadded) {
  EXPECT_THAT(RefusalOf("aten::constant_pad_nd(f32[4], [1,1,1,1])"), HasSubstr("does not fit"));
  EXPECT_THAT(RefusalOf("aten::constant_pad_nd(f32[4], [-3,-2])"), HasSubstr("leaves no elements"));
  EXPECT_THAT(RefusalOf("aten::pad(f32[4], [1,1], 'mirror')"),
              HasSubstr("padding mode \"mirror\""));
}

TEST(Padding, SequencesArePaddedToTheLongest) {
  EXPECT_EQ(ResultOf("aten::pad_sequence([f32[3,4],f32[5,4]], True)"), "f32[2,5,4]");
  EXPECT_EQ(ResultOf("aten::pad_sequence([f32[3,4],f32[5,4]])"), "f32[5,2,4]");
}

}  // namespace
}  // namespace steelyard
