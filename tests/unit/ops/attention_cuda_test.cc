// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(CudaAttention, HalfPrecisionRunsInFlash) {
  EXPECT_THAT(CudaBytesOf("aten::scaled_dot_product_attention(bf16[2,8,128,64], bf16[2,8,128,64], "
                          "bf16[2,8,128,64])"),
              ElementsAre(262144, 8192, 16, 8, -8192, -16, -8));
}

TEST(CudaAttention, Float32RunsInTheMemoryEfficientKernel) {
  EXPECT_THAT(CudaBytesOf("aten::scaled_dot_product_attention(f32[2,8,128,64], f32[2,8,128,64], "
                          "f32[2,8,128,64])"),
              ElementsAre(8, 8, 524288, -8, -8));
}

TEST(CudaAttention, AMaskOfHalfPrecisionRunsThereToo) {
  EXPECT_THAT(CudaBytesOf("aten::scaled_dot_product_attention(bf16[2,8,128,64], bf16[2,8,128,64], "
                          "bf16[2,8,128,64], bf16[2,1,128,128])"),
              ElementsAre(8, 8, 262144, -8, -8));
}

TEST(CudaAttention, HeadsOfNoFittingSizeAreMultiplied) {
  EXPECT_THAT(CudaBytesOf("aten::scaled_dot_product_attention(f32[2,8,16,66], f32[2,8,16,66], "
                          "f32[2,8,16,66])"),
              Contains(33554432));
}

TEST(CudaAttention, BackwardsWorkspaceHasABlockForEachTileOfTheQuery) {
  const auto backward = [](std::string_view dtype, int size) {
    const std::string heads = std::string(dtype) + "[4,16,1000," + std::to_string(size) + "]";
    return "aten::_scaled_dot_product_efficient_attention_backward(" + heads + ", " + heads + ", " +
           heads + ", " + heads + ", None, " + heads +
           ", f32[4,16,1024], i64[], i64[], 0.0, [True, True, True, False])";
  };
  EXPECT_THAT(CudaBytesOf(backward("bf16", 64)), Contains(16793600));
  EXPECT_THAT(CudaBytesOf(backward("bf16", 128)), Contains(33562624));
  EXPECT_THAT(CudaBytesOf(backward("f32", 128)), Contains(33570816));
  EXPECT_THAT(CudaBytesOf(backward("bf16", 256)), Contains(92307456));
}

TEST(CudaAttention, HeadsThatShareAKeyHaveGradientsOfTheirOwnFirst) {
  // The gradient lies as such attention's result does, its lengths outside its heads.
  EXPECT_THAT(
      CudaBytesOf("aten::_scaled_dot_product_efficient_attention_backward(f32[2,8,128,64]{65536,64,"
                  "512,1}, f32[2,8,128,64], f32[2,2,128,64], f32[2,2,128,64], None, "
                  "f32[2,8,128,64], f32[2,8,128], i64[], i64[], 0.0, [True, True, True, False], "
                  "True)"),
      ElementsAre(524288, 131072, 131072, 524288, 524288, 524288, 8192, 8192, -8192, -524288,
                  524800, -8192, -524800, -524288, -524288));
}

TEST(CudaAttention, AGradientThatLiesOtherwiseIsCopied) {
  EXPECT_THAT(
      CudaBytesOf("aten::_scaled_dot_product_efficient_attention_backward(f32[2,8,128,64], "
                  "f32[2,8,128,64], f32[2,2,128,64], f32[2,2,128,64], None, f32[2,8,128,64], "
                  "f32[2,8,128], i64[], i64[], 0.0, [True, True, True, False], True)"),
      ElementsAre(524288, 524288, 131072, 131072, 524288, 524288, 524288, 8192, 8192, -8192,
                  -524288, 524800, -8192, -524800, -524288, -524288, -524288));
}

}  // namespace
}  // namespace steelyard
