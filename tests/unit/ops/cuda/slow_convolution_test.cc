// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/slow_convolution.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;  // of cuBLAS, in each product

constexpr Target kV100{.device = Device::kCuda,
                       .name = "v100",
                       .capability = 70,
                       .multiprocessors = 80,
                       .multiprocessor_threads = 2048};

// Recorded, as all that follows.
TEST(SlowConvolution, ImagesShareTheColumns) {
  constexpr std::int64_t kColumns = 3 * 3 * 3 * 64 * 4;
  EXPECT_THAT(CudaBytesOf("aten::_slow_conv2d_forward(f32[2,3,8,8], f32[5,3,3,3], [3,3], f32[5], "
                          "[1,1], [1,1])"),
              ElementsAre(2 * 5 * 64 * 4, kColumns, kWorkspace, -kWorkspace, kWorkspace,
                          -kWorkspace, -kColumns));
  EXPECT_THAT(CudaBytesOf("aten::_slow_conv2d_forward(f32[2,3,8,8]{192,1,24,3}, f32[5,3,3,3], "
                          "[3,3], f32[5], [1,1], [1,1])"),
              ElementsAre(2 * 3 * 64 * 4, 2 * 5 * 64 * 4, kColumns, kWorkspace, -kWorkspace,
                          kWorkspace, -kWorkspace, -kColumns, -2 * 3 * 64 * 4))
      << "with a row-major copy";
}

// The image is its columns, but in dilated convolutions.
TEST(SlowConvolution, WindowsOfOnePixelAreNotGathered) {
  EXPECT_THAT(CudaBytesOf("aten::_slow_conv2d_forward(f32[1,3,8,8], f32[5,3,1,1], [1,1], None, "
                          "[1,1], [0,0])"),
              ElementsAre(5 * 64 * 4, kWorkspace, -kWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::slow_conv_dilated2d(f32[1,3,8,8], f32[5,3,1,1], [1,1])"),
              ElementsAre(5 * 64 * 4, 3 * 64 * 4, kWorkspace, -kWorkspace, -3 * 64 * 4));
}

TEST(SlowConvolution, ABiasOfATransposedOneIsAProductWithOnes) {
  EXPECT_THAT(CudaBytesOf("aten::slow_conv_transpose2d(f32[1,4,5,5], f32[4,6,3,3], [3,3], f32[6], "
                          "[2,2], [1,1])"),
              ElementsAre(6 * 81 * 4, 6 * 9 * 25 * 4, 81 * 4, kWorkspace, -kWorkspace, kWorkspace,
                          -kWorkspace, -81 * 4, -6 * 9 * 25 * 4));
  EXPECT_THAT(CudaBytesOf("aten::slow_conv_transpose2d(f32[1,4,5,5], f32[4,6,3,3], [3,3], None, "
                          "[2,2], [1,1])"),
              ElementsAre(6 * 81 * 4, 6 * 9 * 25 * 4, kWorkspace, -kWorkspace, -6 * 9 * 25 * 4));
}

// Until the result is there.
TEST(SlowConvolution, ATransposedVolumeHasAnEmptyOneBesideIt) {
  constexpr std::int64_t kVolume = 4 * 75 * 4, kColumns = 6 * 18 * 75 * 4;
  EXPECT_THAT(
      CudaBytesOf("aten::slow_conv_transpose3d(f32[1,4,3,5,5], f32[4,6,2,3,3], [2,3,3], "
                  "None, [2,2,2], [0,1,1])"),
      ElementsAre(kVolume, 6 * 6 * 81 * 4, -kVolume, kColumns, kWorkspace, -kWorkspace, -kColumns));
}

TEST(SlowConvolution, GradientsComeOneAfterTheOtherWithOneBuffer) {
  constexpr std::int64_t kColumns = 3 * 3 * 3 * 64 * 4;
  const auto backward = [](const std::string& mask) {
    return CudaBytesOf(
        "aten::_slow_conv2d_backward.output_mask(f32[1,5,8,8], f32[1,3,8,8], "
        "f32[5,3,3,3], [3,3], [1,1], [1,1], " +
        mask + ")");
  };
  EXPECT_THAT(backward("[True,True,True]"),
              ElementsAre(3 * 64 * 4, kColumns, kWorkspace, -kWorkspace, 5 * 4, 5 * 27 * 4,
                          kWorkspace, -kWorkspace, -kColumns))
      << "of the image, the bias and the weight";
  EXPECT_THAT(backward("[False,False,True]"), ElementsAre(5 * 4)) << "a sum needs no columns";
}

// In bfloat16 before Ampere. Of a dilated one each image's share of the bias is a tensor; of a
// transposed one the image's gradient comes first, and the columns are gathered anew for the
// others.
TEST(SlowConvolution, OtherGradientsHaveColumnsToo) {
  constexpr std::int64_t kSmall = 8320 << 10;  // the workspace
  constexpr std::int64_t kColumns = 27 * 16 * 2, kTransposed = 6 * 9 * 25 * 2, kBias = 5 * 2;
  EXPECT_THAT(
      CudaBytesOf("aten::convolution_backward(bf16[2,5,4,4], bf16[2,3,8,8], "
                  "bf16[5,3,3,3], [5], [1,1], [0,0], [2,2], False, [0,0], 1, "
                  "[True,True,True])",
                  kV100),
      ElementsAre(2 * 3 * 64 * 2, 5 * 27 * 2, kBias, kColumns, kSmall, -kSmall, kSmall, -kSmall,
                  kBias, -kBias, kSmall, -kSmall, kSmall, -kSmall, kBias, -kBias, -kColumns));
  EXPECT_THAT(CudaBytesOf("aten::convolution_backward(bf16[1,6,11,11], bf16[1,4,5,5], "
                          "bf16[4,6,3,3], [6], [2,2], [0,0], [1,1], True, [0,0], 1, "
                          "[True,True,True])",
                          kV100),
              ElementsAre(4 * 25 * 2, kTransposed, kSmall, -kSmall, -kTransposed, 4 * 54 * 2, 6 * 2,
                          kTransposed, kSmall, -kSmall, -kTransposed));
}

}  // namespace
}  // namespace steelyard
