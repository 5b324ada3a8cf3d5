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

// Recorded: a launch counts bytes in 32 bits. Moments do not fit into the result meanwhile, nor do
// sums of half-precision numbers.
TEST(CudaReduce, LargeTensorsAreReducedInSeveralLaunches) {
  EXPECT_THAT(CudaBytesOf("aten::sum(f32[4,4096,50257])"),
              ElementsAre(4, 12568, 4, -4, -12568, 12568, 4, -4, -12568));
  EXPECT_THAT(CudaBytesOf("aten::sum(bf16[8,4096,50257])"),
              ElementsAre(2, 4, 25132, 4, -4, -25132, 25132, 4, -4, -25132, -4));
  EXPECT_THAT(CudaBytesOf("aten::var.correction(f32[4,4096,50257])"),
              ElementsAre(4, 16, 50272, 4, -4, -50272, 50272, 4, -4, -50272, -16));
  EXPECT_THAT(CudaBytesOf("aten::argmax(f32[4,4096,50257], 2)"),
              ElementsAre(131072, 262144, -262144));
}

// Recorded: where the chunks of each tensor begin, and a partial norm of each of the three chunks.
// Before 2.15 each tensor had as many as the largest.
TEST(CudaReduce, NormsOfAListArePartialByChunk) {
  constexpr std::string_view kNorms = "aten::_foreach_norm.Scalar([f32[300,300], f32[300]])";
  EXPECT_THAT(CudaBytesOf(kNorms), ElementsAre(24, 12, 4, 4, -12, -24));
  Target before = kH100;
  before.torch_minor = 14;
  EXPECT_THAT(CudaBytesOf(kNorms, before), ElementsAre(16, 4, 4, -16));
}

}  // namespace
}  // namespace steelyard
