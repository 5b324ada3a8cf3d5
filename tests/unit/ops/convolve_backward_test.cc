// SPDX-License-Identifier: Apache-2.0

#include "ops/convolve_backward.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "events.h"
#include "programs.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST(ConvolveBackward, DilatedVolumesHaveAKernelOfTheirOwn) {
  EXPECT_THAT(NodesOf("aten::convolution_backward(f64[2,5,4,4,4], f64[2,3,6,8,8], f64[5,3,2,3,3], "
                      "[5], [1,1,1], [0,0,0], [2,2,2], False, [0,0,0], 1, [True,True,True])"),
              Contains("slow_conv_dilated3d_backward"));
}

TEST(ConvolveBackward, OfNoImagesThereAreZeros) {
  EXPECT_THAT(NodesOf("aten::convolution_backward(bf16[0,6,6,6], bf16[0,4,8,8], bf16[6,2,3,3], "
                      "[6], [1,1], [0,0], [1,1], False, [0,0], 2, [True,True,True])"),
              ElementsAre("zeros_like", "zeros_like", "zeros"));
}

TEST(ConvolveBackward, EstimatesAreNoted) {
  const auto notes = [](std::string_view tensors, std::string_view mask) {
    return Notes(
        KernelsOf(fmt::format("aten::convolution_backward({}, [24], [1,1], [1,1], [1,1], "
                              "False, [0,0], 1, {})",
                              tensors, mask)));
  };
  constexpr std::string_view kRows = "bf16[2,24,8,8], bf16[2,20,8,8], bf16[24,20,3,3]",
                             kLast =
                                 "bf16[2,24,8,8]{1536,1,192,24}, bf16[2,20,8,8]{1280,1,160,20},"
                                 " bf16[24,20,3,3]";
  EXPECT_THAT(notes(kRows, "[True,True,True]"), IsEmpty());
  EXPECT_THAT(notes(kLast, "[False,True,True]"), IsEmpty());
  EXPECT_THAT(notes(kLast, "[True,False,False]"), ElementsAre(HasSubstr("not known to the byte")));
}

TEST(ConvolveBackward, RefusesAGradientOfAnotherSize) {
  EXPECT_THAT(RefusalOf("aten::convolution_backward(f32[2,6,7,7], f32[2,4,8,8], f32[6,4,3,3], "
                        "[6], [1,1], [0,0], [1,1], False, [0,0], 1, [True,True,True])"),
              ::testing::HasSubstr("a gradient f32[2,6,7,7] of a convolution that gives"));
}

}  // namespace
}  // namespace steelyard
