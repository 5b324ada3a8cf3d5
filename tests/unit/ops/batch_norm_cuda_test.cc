// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(CudnnBatchNorm, ReadsCopiesOfWhatIsNotDense) {
  EXPECT_THAT(CudaBytesOf("aten::batch_norm(f32[2,3,4,4], f32[3]{2}, f32[3], None, None, True, "
                          "0.1, 1e-05, True)"),
              ElementsAre(12, 384, 12, 12, -12, -12, -12));
}

TEST(CudnnBatchNorm, GivesTheGradientsOfImageAndParameters) {
  EXPECT_THAT(CudaBytesOf("aten::cudnn_batch_norm_backward(f32[2,3,4,4], f32[2,3,4,4], f32[3], "
                          "f32[3], f32[3], f32[3], f32[3], 1e-05, u8[0])"),
              ElementsAre(384, 12, 12));
}

// A gradient is read in the order of the image.
TEST(CudnnBatchNorm, CopiesAGradientInAnotherOrder) {
  EXPECT_THAT(
      CudaBytesOf("aten::cudnn_batch_norm_backward(f32[2,3,4,4]{48,1,12,3}, f32[2,3,4,4], f32[3], "
                  "f32[3], f32[3], f32[3], f32[3], 1e-05, u8[0])"),
      ElementsAre(384, 384, 12, 12, -384));
}

}  // namespace
}  // namespace steelyard
