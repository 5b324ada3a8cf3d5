// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/convolution.h"

#include <gmock/gmock.h>

#include "../image_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(ConvolutionGradient, OneNodeKeepsImageAndWeight) {
  EXPECT_THAT(SavedOfImage("aten::conv2d(%p, %w)"),
              ElementsAre("p by ConvolutionBackward0", "w by ConvolutionBackward0"));
  EXPECT_THAT(ImageBackwardOf("aten::conv2d(%p, %w)"), ElementsAre("onednn_convolution_backward"));
}

TEST(ConvolutionGradient, TheKernelIsThatOfTheForwardPass) {
  // A single small image.
  const std::string one =
      "parameter %w: f32[6,4,3,3]\ninput %x: f32[1,4,8,8]\n%y = aten::conv2d(%x, %w)\n"
      "%loss = aten::mean(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
  const std::vector<std::string> events = EventsOfProgram(one);
  // The gradient of the weight and its columns: 4 x 3 x 3 rows, 6 x 6 windows. None of the image.
  EXPECT_THAT(events, Contains(Line(6 * 4 * 9 * 4, "aten::resize_")));
  EXPECT_THAT(events, Contains(Line(-36 * 36 * 4, "aten::_slow_conv2d_backward")));
  EXPECT_THAT(events, Not(Contains(Line(4 * 64 * 4, "aten::resize_"))));
}

TEST(ConvolutionGradient, KernelsThatAProgramCallsHaveNodesOfTheirOwn) {
  EXPECT_THAT(SavedOfImage("aten::mkldnn_convolution(%p, %w, None, [0,0], [1,1], [1,1], 1)"),
              ElementsAre("p by MkldnnConvolutionBackward0", "w by MkldnnConvolutionBackward0"));
  EXPECT_THAT(ImageBackwardOf("aten::mkldnn_convolution(%p, %w, None, [0,0], [1,1], [1,1], 1)"),
              ElementsAre("onednn_convolution_backward"));
  EXPECT_THAT(SavedOfImage("aten::_convolution(%p, %w, None, [1,1], [0,0], [1,1], False, [0,0], 1, "
                           "False, False, False, False)"),
              ElementsAre("p by ConvolutionBackward1", "w by ConvolutionBackward1"));
}

}  // namespace
}  // namespace steelyard
