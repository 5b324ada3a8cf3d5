// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pooling, SizesFollowTheWindow) {
  EXPECT_EQ(ResultOf("aten::max_pool2d(f32[2,3,112,112], [3,3], [2,2], [1,1])"), "f32[2,3,56,56]");
  EXPECT_EQ(ResultOf("aten::max_pool2d(f32[2,3,9,9], [2,2])"),
            "f32[2,3,4,4]");  // the stride is the kernel's size
  EXPECT_EQ(ResultOf("aten::max_pool2d(f32[2,3,9,9], [2,2], ceil_mode=True)"), "f32[2,3,5,5]");
  EXPECT_EQ(ResultOf("aten::avg_pool2d(f32[3,8,8], [3,3])"), "f32[3,2,2]");
  EXPECT_EQ(ResultOf("aten::max_pool3d(f32[2,3,4,6,6], [2,2,2])"), "f32[2,3,2,3,3]");
  EXPECT_EQ(ResultOf("aten::avg_pool1d(f32[2,3,9], [3], [2], [1])"), "f32[2,3,5]");
}

TEST(Pooling, IndicesDieInMaxPool) {
  EXPECT_THAT(EventsOf("aten::max_pool2d(f32[2,3,8,8], [2,2])"),
              ElementsAre(Line(2 * 3 * 16 * 4, "max_pool2d_with_indices"),
                          Line(2 * 3 * 16 * 8, "max_pool2d_with_indices"),
                          Line(-2 * 3 * 16 * 8, "max_pool2d")));
}

TEST(Pooling, ImagesInNoFormatAreCopiedAfterTheResults) {
  EXPECT_THAT(EventsOf("aten::avg_pool2d(f32[2,3,8,6]{144,48,1,8}, [2,2])"),
              ElementsAre(Line(2 * 3 * 12 * 4, "avg_pool2d"), Line(2 * 3 * 48 * 4, "empty"),
                          Line(-2 * 3 * 48 * 4, "avg_pool2d")));
  EXPECT_EQ(ResultOf("aten::avg_pool2d(f32[2,3,8,8]{192,1,24,3}, [2,2])"),
            "f32[2,3,4,4]{48,1,12,3}");
}

TEST(Pooling, MaxPool1dGivesOnlyValues) {
  EXPECT_THAT(EventsOf("aten::max_pool1d(f32[2,3,9], [3])"),
              ElementsAre(Line(2 * 3 * 3 * 4, "empty")));
}

TEST(Pooling, AverageOverTheWholeImageIsAMean) {
  EXPECT_THAT(EventsOf("aten::adaptive_avg_pool2d(f32[2,3,8,8], [1,1])"),
              ElementsAre(Line(2 * 3 * 4, "mean"), Line(8, "div_"), Line(4, "empty_strided"),
                          Line(-4, "div_"), Line(-8, "div_")));
  EXPECT_THAT(EventsOf("aten::adaptive_avg_pool2d(f32[2,3,8,8], [3,3])"),
              ElementsAre(Line(2 * 3 * 9 * 4, "resize_")));
  EXPECT_EQ(ResultOf("aten::adaptive_avg_pool3d(f32[2,3,4,8,8], [1,1,1])"), "f32[2,3,1,1,1]");
  EXPECT_EQ(ResultOf("aten::adaptive_avg_pool1d(f32[2,3,8], [4])"), "f32[2,3,4]");
}

TEST(Pooling, WorkIsTheWindowPerElement) {
  EXPECT_EQ(WorkOf("aten::max_pool2d(f32[2,3,8,8], [2,2])").alu, Count(2 * 3 * 16 * 4));
  EXPECT_EQ(WorkOf("aten::avg_pool2d(f32[2,3,8,8], [2,2])").alu, Count(2 * 3 * 16 * (4 + 1)));
}

TEST(Upsampling, ComputesInChannelsLastOrder) {
  EXPECT_THAT(
      EventsOf("aten::upsample_nearest2d.vec(f32[2,3,4,4], None, [2.0,2.0])"),
      ElementsAre(Line(2 * 3 * 64 * 4, "upsample_nearest2d"), Line(2 * 3 * 16 * 4, "empty"),
                  Line(2 * 3 * 64 * 4, "empty"), Line(-2 * 3 * 64 * 4, "upsample_nearest2d"),
                  Line(-2 * 3 * 16 * 4, "upsample_nearest2d")));
  EXPECT_THAT(EventsOf("aten::upsample_bilinear2d(f32[2,3,4,4]{48,1,12,3}, [6,6], False)"),
              ElementsAre(Line(2 * 3 * 36 * 4, "upsample_bilinear2d")));
}

TEST(Upsampling, FactorsRoundDown) {
  EXPECT_EQ(ResultOf("aten::upsample_bilinear2d.vec(f32[2,3,5,5], None, False, [1.5,2.5])"),
            "f32[2,3,7,12]");
  EXPECT_THAT(RefusalOf("aten::upsample_nearest2d.vec(f32[2,3,4,4], None, None)"),
              HasSubstr("sizes or factors"));
  EXPECT_THAT(RefusalOf("aten::upsample_nearest2d.vec(f32[2,3,4,4], None, [1e300,2.0])"),
              HasSubstr("factor"));
}

TEST(Im2Col, EveryWindowIsAColumn) {
  EXPECT_EQ(ResultOf("aten::im2col(f32[2,3,8,8], [3,3], [1,1], [1,1], [1,1])"), "f32[2,27,64]");
  // The first storage of the result, like the image, is replaced.
  EXPECT_THAT(EventsOf("aten::im2col(f32[2,3,8,8], [3,3], [1,1], [1,1], [1,1])"),
              ElementsAre(Line(2 * 3 * 64 * 4, "empty"), Line(2 * 27 * 64 * 4, "resize_"),
                          Line(-2 * 3 * 64 * 4, "resize_")));
}

TEST(Pooling, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::max_pool2d(f32[8,8], [2,2])"),
              HasSubstr("over 2 dimensions of f32[8,8]"));
  EXPECT_THAT(RefusalOf("aten::max_pool2d(f32[2,3,8,8], [9,9])"),
              HasSubstr("larger than the padded image"));
  EXPECT_THAT(RefusalOf("aten::max_pool2d(f32[2,3,8,8], [2,2,2])"),
              HasSubstr("3 numbers for 2 dimensions"));
  EXPECT_THAT(RefusalOf("aten::adaptive_avg_pool2d(f32[2,3,8,8], [-2,3])"), HasSubstr("negative"));
}

}  // namespace
}  // namespace steelyard
