// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/embedding.h"

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(CudaEmbedding, FewIndicesAreAddedUpInPlace) {
  EXPECT_THAT(CudaBytesOf("aten::embedding_dense_backward(f32[3,4,16], i64[3,4], 100, -1, False)"),
              ElementsAre(6400));
}

TEST(CudaEmbedding, ManyIndicesOfAFewRowsAreAddedUpAtOnce) {
  EXPECT_THAT(CudaBytesOf("aten::embedding_dense_backward(f32[4096,8], i64[4096], 32, -1, False)"),
              ElementsAre(32768, 32768, 32768, 3583, -3583, -32768, 1024, 32768, 8, 32768, 1279,
                          -1279, -32768, 256, 256, 1279, -1279, 8, 3528, 3528, -3528, -3528, -8,
                          -256, -256, -8, -32768, -32768, -32768));
}

TEST(CudaEmbedding, ManyIndicesOfManyRowsAreAddedUpInParts) {
  EXPECT_THAT(
      CudaBytesOf("aten::embedding_dense_backward(f32[4096,64], i64[4096], 1000, -1, False)"),
      ElementsAre(32768, 32768, 32768, 71167, -71167, -32768, 256000, 32768, 8, 32768, 1279, -1279,
                  -32768, 8000, 8000, 1279, -1279, 8, 11272, 360704, -360704, -11272, -8, -8000,
                  -8000, -8, -32768, -32768, -32768));
}

TEST(CudaEmbedding, FrequenciesAreScannedTwice) {
  EXPECT_THAT(
      CudaBytesOf("aten::embedding_dense_backward(f32[3500,16], i64[3500], 100, -1, True)"),
      ElementsAre(28000, 28000, 28000, 3583, -3583, -28000, 28000, 1279, -1279, 1279, -1279, 6400,
                  28000, 8, 28000, 1279, -1279, -28000, 800, 800, 1279, -1279, 8, 3600, 3600, -3600,
                  -3600, -8, -800, -800, -8, -28000, -28000, -28000, -28000));
}

// 32 rows of 8 numbers in float32, for the gradient in bfloat16.
TEST(CudaEmbedding, HalfPrecisionIsAddedUpAtOnceInFloat32) {
  EXPECT_THAT(CudaBytesOf("aten::embedding_dense_backward(bf16[4096,8], i64[4096], 32, -1, False)"),
              testing::IsSupersetOf({512, 1024, -1024}));
}

}  // namespace
}  // namespace steelyard
