// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Assemble, WindowsOverlap) {
  // (8 - 3) / 2 + 1 windows of 3.
  EXPECT_EQ(ResultOf("aten::unfold(f32[8], 0, 3, 2)"), "f32[3,3]{2,1}");
  EXPECT_THAT(RefusalOf("aten::unfold(f32[8], 0, 9, 1)"), HasSubstr("windows of 9"));
}

TEST(Assemble, LargerPartsComeFirst) {
  EXPECT_EQ(ResultOf("aten::tensor_split.sections(f32[7,2], 3)", 0), "f32[3,2]");
  EXPECT_EQ(ResultOf("aten::tensor_split.sections(f32[7,2], 3)", 2), "f32[2,2]");
  EXPECT_EQ(ResultOf("aten::tensor_split.indices(f32[7,2], [1,4])", 2), "f32[3,2]");
}

TEST(Assemble, CombinationsAreAsManyAsTheBinomialSays) {
  EXPECT_EQ(ResultOf("aten::combinations(f32[5], 3)"), "f32[10,3]");        // 5 over 3
  EXPECT_EQ(ResultOf("aten::combinations(f32[5], 3, True)"), "f32[35,3]");  // 7 over 3
  EXPECT_THAT(RefusalOf("aten::combinations(f32[5,2])"), HasSubstr("the vector"));
}

TEST(Assemble, GridsAreViews) {
  EXPECT_EQ(ResultOf("aten::meshgrid([f32[3], f32[4]])"), "f32[3,4]{1,0}");
  EXPECT_EQ(ResultOf("aten::meshgrid.indexing([f32[3], f32[4]], indexing='xy')"), "f32[4,3]{0,1}");
  EXPECT_THAT(EventsOf("aten::meshgrid([f32[3], f32[4]])"), IsEmpty());
}

TEST(Assemble, TrianglesHaveRowsAndColumns) {
  EXPECT_EQ(ResultOf("aten::tril_indices(4, 3)"), "i64[2,9]");      // 1 + 2 + 3 + 3
  EXPECT_EQ(ResultOf("aten::triu_indices(4, 3, 1)"), "i64[2,3]");   // 2 + 1
  EXPECT_EQ(ResultOf("aten::tril_indices(2, 5, -1)"), "i64[2,1]");  // 0 + 1
}

TEST(Assemble, ChannelsBecomePixels) {
  EXPECT_EQ(ResultOf("aten::pixel_shuffle(f32[2,12,3,3], 2)"), "f32[2,3,6,6]");
  EXPECT_EQ(ResultOf("aten::pixel_unshuffle(f32[2,3,6,6], 2)"), "f32[2,12,3,3]");
  EXPECT_THAT(EventsOf("aten::pixel_shuffle(f32[2,12,3,3], 2)"),
              ElementsAre(Line(2 * 12 * 9 * 4, "resize_")));
  EXPECT_THAT(RefusalOf("aten::pixel_shuffle(f32[2,10,3,3], 2)"), HasSubstr("10 channels"));
}

TEST(Assemble, DiagonalsGoBothWays) {
  EXPECT_EQ(ResultOf("aten::diag(f32[3], 1)"), "f32[4,4]");
  EXPECT_EQ(ResultOf("aten::diag(f32[3,4])"), "f32[3]");
}

}  // namespace
}  // namespace steelyard
