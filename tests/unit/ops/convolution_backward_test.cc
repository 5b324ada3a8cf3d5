// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kOwn = "convolution_backward";

TEST(ConvolutionBackward, OneDnnCopiesIntoBlocksAndBack) {
  // 32 and 48 channels are whole blocks: gradient, weight and image; then image and weight anew.
  constexpr int kGradient = 2 * 48 * 64 * 4, kImage = 2 * 32 * 64 * 4, kWeight = 48 * 32 * 9 * 4;
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f32[2,48,8,8], f32[2,32,8,8], f32[48,32,3,3], None, "
               "[1,1], [1,1], [1,1], False, [0,0], 1, [True,True,False])"),
      ElementsAre(Line(kGradient, kOwn), Line(kWeight, kOwn), Line(kImage, kOwn),
                  Line(-kWeight, kOwn), Line(-kGradient, kOwn), Line(kImage, "empty"),
                  Line(-kImage, kOwn), Line(kGradient, kOwn), Line(kImage, kOwn),
                  Line(kWeight, kOwn), Line(-kImage, kOwn), Line(-kGradient, kOwn),
                  Line(kWeight, "empty"), Line(-kWeight, kOwn)));
}

TEST(ConvolutionBackward, PlainKernelsGatherWindowsForTheWeightOnly) {
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f64[2,6,6,6], f64[2,4,8,8], f64[6,4,3,3], [6], [1,1], "
               "[0,0], [1,1], False, [0,0], 1, [True,True,True])"),
      ElementsAre(Line(2 * 4 * 64 * 8, "resize_"), Line(6 * 8, "sum"),
                  Line(6 * 4 * 9 * 8, "resize_"), Line(2 * 36 * 36 * 8, "empty"),
                  Line(-2 * 36 * 36 * 8, "_slow_conv2d_backward")));
}

TEST(ConvolutionBackward, DilatedOnesSumTheBiasImageByImage) {
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f64[2,6,4,4], f64[2,4,8,8], f64[6,4,3,3], [6], [1,1], "
               "[0,0], [2,2], False, [0,0], 1, [False,True,True])"),
      ElementsAre(Line(6 * 4 * 9 * 8, "empty"), Line(6 * 8, "empty"), Line(36 * 16 * 8, "resize_"),
                  Line(6 * 8, "sum"), Line(-6 * 8, kOwn), Line(6 * 8, "sum"), Line(-6 * 8, kOwn),
                  Line(-36 * 16 * 8, kOwn)));
}

TEST(ConvolutionBackward, VolumesGatherWindowsTwice) {
  constexpr int kColumns = 4 * 18 * 30 * 8;
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f64[1,6,2,3,5], f64[1,4,4,5,6], f64[6,4,3,3,2], [6], "
               "[1,1,1], [0,0,0], [1,1,1], False, [0,0,0], 1, [True,True,False])"),
      ElementsAre(Line(4 * 120 * 8, "resize_"), Line(kColumns, "empty"), Line(-kColumns, kOwn),
                  Line(6 * 4 * 18 * 8, "resize_"), Line(kColumns, "empty"), Line(-kColumns, kOwn)));
}

TEST(ConvolutionBackward, ATransposedOneIsOneFromGradientToImage) {
  // The gradient is the image of that convolution: 32 channels of 10 x 10 to 48 of 5 x 5.
  constexpr int kGradient = 2 * 32 * 100 * 4, kImage = 2 * 48 * 25 * 4, kWeight = 48 * 32 * 4 * 4;
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f32[2,32,10,10], f32[2,48,5,5], f32[48,32,2,2], [32], "
               "[2,2], [0,0], [1,1], True, [0,0], 1, [True,True,True])"),
      ElementsAre(Line(kGradient, kOwn), Line(kWeight, kOwn), Line(kImage, kOwn),
                  Line(-kWeight, kOwn), Line(-kGradient, kOwn), Line(kImage, "empty"),
                  Line(-kImage, kOwn), Line(kGradient, kOwn), Line(kImage, kOwn),
                  Line(kWeight, kOwn), Line(32 * 4, kOwn), Line(-kImage, kOwn),
                  Line(-kGradient, kOwn), Line(32 * 4, "empty"), Line(kWeight, "empty"),
                  Line(-kWeight, kOwn), Line(-32 * 4, kOwn)));
}

TEST(ConvolutionBackward, PlainTransposedOnesGatherTheWindowsOfOneImage) {
  constexpr int kColumns = 6 * 9 * 25 * 8;
  EXPECT_THAT(
      EventsOf("aten::convolution_backward(f64[2,6,11,11], f64[2,4,5,5], f64[4,6,3,3], [6], "
               "[2,2], [0,0], [1,1], True, [0,0], 1, [True,True,True])"),
      ElementsAre(Line(2 * 4 * 25 * 8, "resize_"), Line(kColumns, "resize_"), Line(-kColumns, kOwn),
                  Line(6 * 8, "sum"), Line(4 * 6 * 9 * 8, "resize_"), Line(kColumns, "resize_"),
                  Line(-kColumns, kOwn)));
}

TEST(ConvolutionBackward, EachGradientIsOneProduct) {
  constexpr std::string_view kCall =
      "aten::convolution_backward(f32[2,48,8,8], f32[2,32,8,8], f32[48,16,3,3], [48], [1,1], "
      "[1,1], [1,1], False, [0,0], 2, [True,True,True])";
  EXPECT_EQ(WorkOf(kCall).mac, Count(2 * (2 * 48 * 64) * 16 * 9));
  EXPECT_EQ(WorkOf(kCall).alu, Count(2 * 48 * 64));
}

}  // namespace
}  // namespace steelyard
