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

// Of volumes the gradient that arrives is made dense after both, and is there until the bias's is.
TEST(CudaConvolution, OneKernelGivesTheGradientsOfVolumesChannelByChannel) {
  constexpr std::int64_t kVolume = 4 * 64 * 4;
  EXPECT_THAT(CudaBytesOf("aten::convolution_backward(f32[1,4,4,4,4]{0,0,0,0,0}, f32[1,4,4,4,4], "
                          "f32[4,1,3,3,3], [4], [1,1,1], [1,1,1], [1,1,1], False, [0,0,0], 4, "
                          "[True,True,True])"),
              ElementsAre(kVolume, 4 * 27 * 4, kVolume, 4 * 4, -kVolume));
}

}  // namespace
}  // namespace steelyard
