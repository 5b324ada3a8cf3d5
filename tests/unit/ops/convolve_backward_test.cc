// SPDX-License-Identifier: Apache-2.0

#include "ops/convolve_backward.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ConvolveBackward, OneDimensionIsARow) {
  constexpr std::string_view kCall =
      "aten::convolution_backward(f32[2,6,7], f32[2,4,9], f32[6,4,3], [6], [1], [0], [1], False, "
      "[0], 1, [True,True,True])";
  const std::vector<std::string> nodes = NodesOf(kCall);
  EXPECT_EQ(std::ranges::count(nodes, "unsqueeze"), 3);
  EXPECT_THAT(nodes, Contains("onednn_convolution_backward"));
  EXPECT_EQ(ResultOf(kCall, 0), "f32[2,4,9]");
  EXPECT_EQ(ResultOf(kCall, 1), "f32[6,4,3]");
}

TEST(ConvolveBackward, PlainKernelsTakeOneGroupAtATime) {
  const std::vector<std::string> nodes = NodesOf(
      "aten::convolution_backward(f64[2,6,6,6], f64[2,4,8,8], f64[6,2,3,3], [6], [1,1], "
      "[0,0], [1,1], False, [0,0], 2, [True,True,True])");
  EXPECT_EQ(std::ranges::count(nodes, "_slow_conv2d_backward.output_mask"), 2);
  EXPECT_EQ(std::ranges::count(nodes, "cat"), 3);
}

TEST(ConvolveBackward, TheKernelForVolumesCopiesWhatItNeeds) {
  EXPECT_THAT(NodesOf("aten::convolution_backward(f64[2,6,2,3,5]{0,0,0,0,0}, f64[2,2,4,5,6], "
                      "f64[6,2,3,3,2], [6], [1,1,1], [0,0,0], [1,1,1], False, [0,0,0], 1, "
                      "[True,True,True])"),
              ElementsAre("slow_conv3d_backward"));
}

TEST(ConvolveBackward, RefusesAGradientOfAnotherSize) {
  EXPECT_THAT(RefusalOf("aten::convolution_backward(f32[2,6,7,7], f32[2,4,8,8], f32[6,4,3,3], "
                        "[6], [1,1], [0,0], [1,1], False, [0,0], 1, [True,True,True])"),
              ::testing::HasSubstr("a gradient f32[2,6,7,7] of a convolution that gives"));
}

}  // namespace
}  // namespace steelyard
