// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

// As PyTorch 2.15 asks its allocator on an H100 without a GPU.
TEST(CudaAttention, FlashesOwnCallHasLengthsOutsideOfHeads) {
  constexpr std::int64_t kResult = 2 * 9 * 4 * 64 * 2, kSums = 2 * 4 * 9 * 4;
  EXPECT_THAT(CudaBytesOf("aten::_flash_attention_forward(bf16[2,9,4,64], bf16[2,9,2,64], "
                          "bf16[2,9,2,64], None, None, 9, 9, 0.0, True, False)"),
              ElementsAre(kResult, kSums, 16, 8));
  EXPECT_THAT(CudaBytesOf("aten::_flash_attention_forward(bf16[2,9,4,64], bf16[2,9,2,64], "
                          "bf16[2,9,2,64], None, None, 9, 9, 0.1, True, False)"),
              ElementsAre(kResult, kSums, 16, 8, 16, -16));
}

// Four heads of the query share a key: they are its rows, of a fourth of the heads, which are split
// further, unless a window hides keys.
TEST(CudaAttention, GroupsOfASingleQueryAreRows) {
  constexpr std::int64_t kRow = 4, kWidth = 64, kRows = 2 * 8;
  const auto call = [](std::string_view window) {
    return "aten::_flash_attention_forward(bf16[2,1,8,64], bf16[2,20000,2,64], "
           "bf16[2,20000,2,64], None, None, 1, 20000, 0.0, False, False" +
           std::string(window) + ")";
  };
  const auto split = [](std::int64_t parts) {
    const std::int64_t sums = parts * kRows * kRow;
    return ElementsAre(kRows * kWidth * 2, kRows * kRow, sums, sums * kWidth, 16, 8, -sums,
                       -sums * kWidth);
  };
  const std::int64_t of_groups = 40, of_heads = 14;
  EXPECT_THAT(CudaBytesOf(call("")), split(of_groups));
  EXPECT_THAT(CudaBytesOf(call(", window_size_left=5")), split(of_heads));
}

TEST(CudaAttention, FlashsOwnGradientsOfSharedKeysAreAddedUp) {
  constexpr std::int64_t kQuery = 2 * 9 * 4 * 64 * 2, kKey = kQuery / 2, kSums = 2 * 4 * 128 * 4,
                         kWide = kSums * 64;
  EXPECT_THAT(CudaBytesOf("aten::_flash_attention_backward(bf16[2,9,4,64], bf16[2,9,4,64], "
                          "bf16[2,9,2,64], bf16[2,9,2,64], bf16[2,9,4,64], f32[2,4,9], None, None, "
                          "9, 9, 0.0, True, u64[2], u64[])"),
              ElementsAre(kQuery, kKey, kKey, kSums, kWide, kQuery, kQuery, -kQuery, -kQuery,
                          -kWide, -kSums));
}

// Recorded: rows of 61 numbers are padded to 64, and what is added up of shared keys comes first.
TEST(CudaAttention, TheGradientOfABiasHasPaddedRowsAndComesLast) {
  const auto backward = [](std::string_view keys, std::string_view bias) {
    const std::string query = "bf16[3,4,61,32]", key = "bf16[3," + std::string(keys) + ",61,32]";
    return CudaBytesOf("aten::_scaled_dot_product_efficient_attention_backward(" + query + ", " +
                       query + ", " + key + ", " + key + ", bf16" + std::string(bias) + ", " +
                       query + ", f32[3,4,64], i64[], i64[], 0.0, [True, True, True, True])");
  };
  constexpr std::int64_t kQuery = 3 * 4 * 61 * 32 * 2, kRows = 3 * 4 * 61 * 64 * 2;
  EXPECT_THAT(backward("4", "[3,4,61,61]"), Contains(kRows));
  const std::vector<std::int64_t> shared = backward("2", "[3,4,61,61]");
  const auto begin = std::ranges::find(shared, kQuery / 2);
  const std::vector<std::int64_t> after(begin, begin + 5);
  EXPECT_THAT(after, ElementsAre(kQuery / 2, kQuery / 2, kQuery, kQuery, kRows));
}

// Recorded: three dimensions are one batch of heads, which fused kernels take; before 2.15
// products.
TEST(CudaAttention, ImagesOfThreeDimensionsAreHeads) {
  constexpr std::string_view kImages =
      "aten::scaled_dot_product_attention(bf16[4,64,32], bf16[4,64,32], bf16[4,64,32])";
  EXPECT_EQ(CudaBytesOf(kImages),
            CudaBytesOf("aten::scaled_dot_product_attention("
                        "bf16[1,4,64,32], bf16[1,4,64,32], bf16[1,4,64,32])"));
  Target before = kH100;
  before.torch_minor = 9;
  EXPECT_THAT(CudaBytesOf(kImages, before), Contains(4 * 64 * 64 * 4));
}

}  // namespace
}  // namespace steelyard
