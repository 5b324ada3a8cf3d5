// SPDX-License-Identifier: Apache-2.0

#include "ops/convolve.h"

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool UsesOneDnn(std::string_view call) {
  return testing::Value(NodesOf(call), Contains("mkldnn_convolution"));
}

TEST(Convolve, FloatGoesToOneDnnButSmallProblems) {
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[2,3,8,8], f32[5,3,3,3])"));
  // One small image; a 1 x 1 kernel on fewer than 16 images.
  EXPECT_FALSE(UsesOneDnn("aten::conv2d(f32[1,3,8,8], f32[5,3,3,3])"));
  EXPECT_FALSE(UsesOneDnn("aten::conv2d(f32[15,3,8,8], f32[5,3,1,1])"));
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[16,3,8,8], f32[5,3,1,1])"));
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[2,3,8,8], f32[5,3,1,1], None, [2,2])"));
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[1,3,8,8], f32[5,3,4,4])"));
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[1,4,8,8], f32[6,2,3,3], groups=2)"));
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(f32[1,5,64,65], f32[5,5,3,3])"));  // 20800 elements
}

TEST(Convolve, OtherDTypesHaveTheirKernels) {
  EXPECT_TRUE(UsesOneDnn("aten::conv2d(bf16[1,3,8,8], bf16[5,3,1,1])"));
  EXPECT_FALSE(UsesOneDnn("aten::conv2d(f64[2,3,8,8], f64[5,3,3,3])"));
  EXPECT_THAT(NodesOf("aten::conv2d(f64[2,3,8,8], f64[5,3,3,3], None, [1,1], [0,0], [2,2])"),
              Contains("slow_conv_dilated2d"));
  EXPECT_THAT(NodesOf("aten::conv3d(f64[2,3,4,8,8], f64[5,3,3,3,3])"),
              Contains("slow_conv3d_forward"));
}

TEST(Convolve, MakesImagesDense) {
  // The copy of the image dies when all is done.
  EXPECT_THAT(EventsOf("aten::conv2d(f32[1,3,8,8]{192,64,1,8}, f32[5,3,1,1])"),
              ElementsAre(Line(3 * 64 * 4, "empty"), Line(5 * 64 * 4, "resize_"),
                          Line(-3 * 64 * 4, "_convolution")));
}

TEST(Convolve, OneDimensionIsARow) {
  EXPECT_THAT(EventsOf("aten::conv1d(f32[2,4,10]{40,1,4}, f32[6,4,1])"),
              ElementsAre(Line(2 * 4 * 10 * 4, "empty"), Line(2 * 6 * 10 * 4, "resize_"),
                          Line(-2 * 4 * 10 * 4, "_convolution")));
}

TEST(Convolve, PlainKernelsRunGroupByGroup) {
  const std::int64_t part = 2 * 2 * 10 * 4, out = 2 * 3 * 10 * 4;
  EXPECT_THAT(
      EventsOf("aten::conv1d(f32[2,4,10], f32[6,2,1], groups=2)"),
      ElementsAre(Line(part, "empty"), Line(out, "resize_"), Line(-part, "_convolution"),
                  Line(part, "empty"), Line(out, "resize_"), Line(-part, "_convolution"),
                  Line(2 * out, "cat"), Line(-out, "_convolution"), Line(-out, "_convolution")));
}

TEST(Convolve, ImagesMayComeWithoutABatch) {
  EXPECT_EQ(ResultOf("aten::conv2d(f32[3,8,8], f32[5,3,3,3])"), "f32[5,6,6]");
}

TEST(Convolve, OfNoImagesNothingIsComputed) {
  constexpr std::string_view kCall =
      "aten::conv2d(f64[0,8,6,6], f64[8,4,3,3], None, [1,1], [0,0], [2,2], 2)";
  EXPECT_THAT(NodesOf(kCall), ElementsAre("new_empty"));
  EXPECT_EQ(ResultOf(kCall), "f64[0,8,2,2]");
}

TEST(Convolve, NamedPadding) {
  EXPECT_EQ(ResultOf("aten::conv2d.padding(f32[2,4,8,8], f32[6,4,3,3], padding='same')"),
            "f32[2,6,8,8]");
  EXPECT_EQ(ResultOf("aten::conv2d.padding(f32[2,4,8,8], f32[6,4,3,3], padding='valid')"),
            "f32[2,6,6,6]");
  EXPECT_THAT(RefusalOf("aten::conv2d.padding(f32[2,4,8,8], f32[6,4,3,3], padding='full')"),
              HasSubstr("'full'"));
  EXPECT_THAT(RefusalOf("aten::conv2d.padding(f32[2,4,8,8], f32[6,4,3,3], None, [2,2], 'same')"),
              HasSubstr("needs a stride of 1"));
}

TEST(Convolve, AbsurdNumbersOfGroupsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::conv2d(f64[1,100000,1,1], f64[100000,1,1,1], groups=100000)"),
              HasSubstr("100000 groups are too many"));
}

TEST(Convolve, ComplexNumbersTakeThreeConvolutionsOfRealOnes) {
  constexpr std::string_view kCall = "aten::conv1d(c64[2,4,16], c64[6,4,3], c64[6])";
  EXPECT_THAT(NodesOf(kCall), Contains("mkldnn_convolution").Times(3));
  EXPECT_EQ(ResultOf(kCall), "c64[2,6,14]");
}

}  // namespace
}  // namespace steelyard
