// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kBlock = 16;  // channels

TEST(Convolution, SizesFollowStridePaddingAndDilation) {
  EXPECT_EQ(ResultOf("aten::conv2d(f32[2,3,224,224], f32[64,3,7,7], None, [2,2], [3,3])"),
            "f32[2,64,112,112]");
  EXPECT_EQ(ResultOf("aten::conv2d(f32[2,4,9,9], f32[6,4,3,3], None, [1,1], [0,0], [2,2])"),
            "f32[2,6,5,5]");
  EXPECT_EQ(ResultOf("aten::conv1d(f32[2,4,10], f32[6,4,3])"), "f32[2,6,8]");
  EXPECT_EQ(ResultOf("aten::conv3d(f32[2,3,4,8,8], f32[5,3,2,3,3])"), "f32[2,5,3,6,6]");
}

TEST(Convolution, ChannelsLastOperandsGiveAChannelsLastImage) {
  EXPECT_EQ(ResultOf("aten::conv2d(f32[2,4,5,5]{100,1,20,4}, f32[6,4,3,3])"),
            "f32[2,6,3,3]{54,1,18,6}");
}

TEST(Convolution, OneDnnCopiesInBlocksAndBack) {
  const std::int64_t pixels = 8 * 8;
  const std::int64_t source = 2 * (2 * kBlock) * pixels * 4,
                     weight = (2 * kBlock) * (2 * kBlock) * 9 * 4;
  const std::int64_t blocked = 2 * (2 * kBlock) * pixels * 4, result = 2 * 24 * pixels * 4;
  // 20 input and 24 output channels are 2 blocks each; the bias is filled up to them too.
  const std::int64_t bias = 2 * kBlock * 4 + 128;
  EXPECT_THAT(EventsOf("aten::mkldnn_convolution(f32[2,20,8,8], f32[24,20,3,3], f32[24], [1,1], "
                       "[1,1], [1,1], 1)"),
              ElementsAre(Line(bias, "mkldnn_convolution"), Line(source, "mkldnn_convolution"),
                          Line(weight, "mkldnn_convolution"), Line(blocked, "mkldnn_convolution"),
                          Line(-weight, "mkldnn_convolution"), Line(-source, "mkldnn_convolution"),
                          Line(-bias, "mkldnn_convolution"), Line(result, "empty"),
                          Line(-blocked, "mkldnn_convolution")));
}

TEST(Convolution, ChannelsLastImagesAreNotCopied) {
  EXPECT_THAT(
      EventsOf("aten::mkldnn_convolution(f32[2,32,8,8]{2048,1,256,32}, f32[32,1,3,3], None, [1,1], "
               "[1,1], "
               "[1,1], 32)"),
      ElementsAre(Line(2 * 32 * 64 * 4, "resize_"), Line(32 * 9 * 4, "mkldnn_convolution"),
                  Line(-32 * 9 * 4, "mkldnn_convolution")));
}

TEST(Convolution, PlainKernelGathersColumns) {
  EXPECT_THAT(
      EventsOf(
          "aten::_slow_conv2d_forward(f32[1,3,8,8], f32[5,3,3,3], [3,3], f32[5], [1,1], [1,1])"),
      ElementsAre(Line(3 * 9 * 64 * 4, "empty"), Line(5 * 64 * 4, "resize_"),
                  Line(-3 * 9 * 64 * 4, "_slow_conv2d_forward")));
  // Columns of a 1 x 1 kernel are the image itself.
  EXPECT_THAT(
      EventsOf("aten::_slow_conv2d_forward(f32[2,3,8,8], f32[5,3,1,1], [1,1], None, [1,1], [0,0])"),
      ElementsAre(Line(2 * 5 * 64 * 4, "resize_")));
}

TEST(Convolution, DilatedKernelGathersOneImageAtATime) {
  EXPECT_THAT(
      EventsOf("aten::slow_conv_dilated2d(f64[2,3,8,8], f64[5,3,3,3], [3,3], dilation=[2,2])"),
      ElementsAre(Line(2 * 5 * 16 * 8, "empty"), Line(3 * 9 * 16 * 8, "resize_"),
                  Line(-3 * 9 * 16 * 8, "slow_conv_dilated2d")));
}

TEST(Convolution, WorkIsTheKernelTimesTheChannelsOfAGroup) {
  EXPECT_EQ(WorkOf("aten::conv2d(f32[2,32,8,8], f32[64,32,3,3], None, [1,1], [1,1])").mac,
            Count(2 * 64 * 64 * 32 * 9));
  EXPECT_EQ(
      WorkOf("aten::conv2d(f32[2,32,8,8], f32[64,8,3,3], f32[64], [1,1], [1,1], [1,1], 4)").mac,
      Count(2 * 64 * 64 * 8 * 9));
  EXPECT_EQ(
      WorkOf("aten::conv2d(f32[2,32,8,8], f32[32,1,3,3], f32[32], [1,1], [1,1], [1,1], 32)").alu,
      Count(2 * 32 * 64));
  // Plain convolutions in groups add up to the same.
  EXPECT_EQ(WorkOf("aten::conv2d(f64[2,4,8,8], f64[6,2,3,3], None, [1,1], [1,1], [1,1], 2)").mac,
            Count(2 * 6 * 64 * 2 * 9));
}

TEST(Convolution, TransposedConvolutionsGrow) {
  EXPECT_EQ(ResultOf("aten::conv_transpose2d.input(f32[2,4,5,5], f32[4,6,2,2], f32[6], [2,2])"),
            "f32[2,6,10,10]");
  EXPECT_EQ(ResultOf("aten::conv_transpose1d(f32[2,4,10], f32[4,3,3], None, [2], [1], [1], 2)"),
            "f32[2,6,20]");
  EXPECT_EQ(WorkOf("aten::conv_transpose2d.input(f32[2,4,5,5], f32[4,6,2,2], None, [2,2])").mac,
            Count(2 * 4 * 25 * 6 * 4));
}

TEST(Convolution, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,8,8], f32[5,4,3,3])"),
              HasSubstr("input channels differ: 3"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,2,2], f32[5,3,3,3])"),
              HasSubstr("larger than the padded image"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,8,8], f32[5,3,3,3], None, [0,1])"),
              HasSubstr("a stride of 0"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,4,8,8], f32[5,2,3,3], None, [1,1], [0,0], [1,1], 2)"),
              HasSubstr("5 output channels in 2 groups"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,8,8], f32[5,3,3,3], f32[4])"),
              HasSubstr("output channels differ"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[8,8], f32[5,3,3,3])"), HasSubstr("over 2 dimensions"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,8,8], f16[5,3,3,3])"), HasSubstr("different dtypes"));
  EXPECT_THAT(RefusalOf("aten::conv2d(f32[2,3,8,8], f32[5,3,3,3], bf16[5])"),
              HasSubstr("of another dtype"));
  EXPECT_THAT(
      RefusalOf("aten::conv_transpose2d.input(f32[2,4,1,1], f32[4,6,1,1], None, [1,1], [1,1])"),
      HasSubstr("gives no image"));
}

}  // namespace
}  // namespace steelyard
