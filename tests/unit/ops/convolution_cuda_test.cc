// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(CudaConvolution, CudnnMakesTheResultAndTheBiasIsAddedInPlace) {
  EXPECT_THAT(CudaBytesOf("aten::conv2d(f32[2,4,8,8], f32[6,4,3,3], f32[6])"),
              ElementsAre(2 * 6 * 6 * 6 * 4));
}

TEST(CudaConvolution, ChannelsLastWeightsAreCopied) {
  EXPECT_THAT(CudaBytesOf("aten::conv2d(f32[2,4,8,8]{256,1,32,4}, f32[6,4,3,3])"),
              ElementsAre(2 * 6 * 6 * 6 * 4, 6 * 4 * 9 * 4, -6 * 4 * 9 * 4));
}

TEST(CudaConvolution, TheImagesGradientComesFirstButOfDepthwiseOnes) {
  EXPECT_THAT(CudaBytesOf("aten::convolution_backward(f32[2,6,8,8], f32[2,4,8,8], f32[6,4,3,3], "
                          "[6], [1,1], [1,1], [1,1], False, [0,0], 1, [True,True,True])"),
              ElementsAre(2 * 4 * 64 * 4, 6 * 4 * 9 * 4, 24));
  EXPECT_THAT(CudaBytesOf("aten::convolution_backward(f32[2,4,8,8], f32[2,4,8,8], f32[4,1,3,3], "
                          "None, [1,1], [1,1], [1,1], False, [0,0], 4, [True,True,False])"),
              ElementsAre(4 * 9 * 4, 2 * 4 * 64 * 4));
}

}  // namespace
}  // namespace steelyard
