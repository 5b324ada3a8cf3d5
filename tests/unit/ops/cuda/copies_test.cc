// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/copies.h"

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(CudaCopies, OperandsThatLieAsTheyShouldAreNotCopied) {
  EXPECT_THAT(CudaBytesOf("aten::native_layer_norm(f32[2,8], [8], f32[8], f32[8], 1e-05)"),
              ElementsAre(64, 8, 8));
}

TEST(CudaCopies, GoInTheOppositeOrderOfTheirMaking) {
  EXPECT_THAT(CudaBytesOf("aten::native_layer_norm(f32[2,8]{1,2}, [8], f32[8]{2}, None, 1e-05)"),
              ElementsAre(64, 32, 64, 8, 8, -32, -64));
}

TEST(CudaCopies, AreMadeBesideResultsThatAreThere) {
  EXPECT_THAT(CudaBytesOf("aten::cummax(f32[2,8]{1,2}, 1)"), ElementsAre(64, 128, 64, -64));
}

TEST(CudaCopies, ImagesAreReadInTheirOwnOrderWhereTheKernelKnowsIt) {
  EXPECT_THAT(CudaBytesOf("aten::max_pool2d_with_indices(f32[2,4,4,4]{64,1,16,4}, [2,2])"),
              ElementsAre(128, 256));
  EXPECT_THAT(CudaBytesOf("aten::avg_pool3d(f32[2,4,4,4,4]{256,1,64,16,4}, [2,2,2])"),
              testing::Contains(2048));
}

}  // namespace
}  // namespace steelyard
