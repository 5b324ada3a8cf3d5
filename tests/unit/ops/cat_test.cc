// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Cat, CopiesOtherDTypesThroughABuffer) {
  EXPECT_THAT(
      EventsOf("aten::cat([f32[2,8], bf16[3,8]], 0)"),
      ElementsAre(Line(5 * 8 * 4, "cat"), Line(3 * 8 * 2, "empty"), Line(-3 * 8 * 2, "cat")));
  EXPECT_EQ(ResultOf("aten::cat([f32[0], f32[2,8]], 1)"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::cat([f32[0], f32[0]])"), "f32[0]");
}

TEST(Cat, KeepsChannelsLastIfAllPartsAre) {
  EXPECT_EQ(ResultOf("aten::cat([f32[2,3,4,5]{60,1,15,3}, f32[2,3,4,5]{60,1,15,3}], 1)"),
            "f32[2,6,4,5]{120,1,30,6}");
  EXPECT_EQ(ResultOf("aten::cat([f32[2,3,4,5]{60,1,15,3}, f32[2,3,4,5]], 1)"), "f32[2,6,4,5]");
}

TEST(Cat, RefusesOtherSizes) {
  EXPECT_THAT(RefusalOf("aten::cat([f32[2,8], f32[2,7]], 0)"),
              HasSubstr("sizes in dimension 1 differ: 8 vs 7"));
  EXPECT_THAT(RefusalOf("aten::cat([f32[2,8], f32[2]], 0)"),
              HasSubstr("numbers of dimensions differ: 2 vs 1"));
  EXPECT_THAT(RefusalOf("aten::cat([])"), HasSubstr("nothing to concatenate"));
}

TEST(Cat, StackIsACat) {
  EXPECT_EQ(ResultOf("aten::stack([f32[2,8], f32[2,8]], 1)"), "f32[2,2,8]");
  EXPECT_THAT(NodesOf("aten::stack([f32[2,8], f32[2,8]], 0)"), ElementsAre("cat", "view", "drop"));
  EXPECT_EQ(ResultOf("aten::stack([f32[2,8], f32[2,8]], -1)"), "f32[2,8,2]");
  EXPECT_THAT(RefusalOf("aten::stack([f32[2], f32[3]])"), HasSubstr("one shape"));
}

TEST(Cat, StacksOfRowsColumnsAndLayers) {
  EXPECT_EQ(ResultOf("aten::hstack([f32[3], f32[4]])"), "f32[7]");
  EXPECT_EQ(ResultOf("aten::vstack([f32[3], f32[2,3]])"), "f32[3,3]");
  EXPECT_EQ(ResultOf("aten::dstack([f32[3], f32[3]])"), "f32[1,3,2]");
  EXPECT_EQ(ResultOf("aten::column_stack([f32[3], f32[3,2]])"), "f32[3,3]");
  EXPECT_EQ(ResultOf("aten::atleast_3d(f32[3])"), "f32[1,3,1]");
  EXPECT_THAT(RefusalOf("aten::hstack([])"), HasSubstr("nothing to stack"));
}

}  // namespace
}  // namespace steelyard
