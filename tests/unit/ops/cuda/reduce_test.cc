// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/reduce.h"

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// Recorded of sums over rows, the gradients of biases.
TEST(CudaReduce, SumsOfManyRowsAreStaged) {
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[4096,768], [0])"), 25165824);
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[4096,1024], [0])"), 33554432);
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[8192,2304], [0])"), 139198464);
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[16384,4096], [0])"), 138412032);
}

TEST(CudaReduce, TheDeviceDecidesHowManyBlocksShareARow) {
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[16384,4096], [0])", kA100), 113246208);
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(f32[16384,4096], [0])", kRtx3090), 65011712);
}

TEST(CudaReduce, HalfPrecisionIsStagedInFloat32) {
  EXPECT_EQ(LargestOf("aten::sum.dim_IntList(bf16[4096,768], [0])"), 25165824);
}

TEST(CudaReduce, FewRowsAreNot) {
  EXPECT_THAT(CudaBytesOf("aten::sum.dim_IntList(f32[512,4096], [0])"), ElementsAre(16384));
  EXPECT_THAT(CudaBytesOf("aten::sum.dim_IntList(f32[4,8], [1])"), ElementsAre(16));
}

}  // namespace
}  // namespace steelyard
