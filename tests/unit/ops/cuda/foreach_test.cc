// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// A table of where each tensor's chunks of 65536 elements begin, and a partial norm of each: one of
// the first tensor, two of the second.
TEST(CudaForeach, NormsHaveAPartForEachChunk) {
  EXPECT_THAT(CudaBytesOf("aten::_foreach_norm.Scalar([f32[400], f32[2,50257]])"),
              ElementsAre(3 * 8, 3 * 4, 4, 4, -3 * 4, -3 * 8));
}

TEST(CudaForeach, ColumnsAreNormedTogetherToo) {
  EXPECT_THAT(CudaBytesOf("aten::_foreach_norm.Scalar([f32[2,8]{1,2}, f32[3]])"),
              ElementsAre(3 * 8, 2 * 4, 4, 4, -2 * 4, -3 * 8));
}

TEST(CudaForeach, OtherNormsAreMadeOneByOne) {
  EXPECT_THAT(CudaBytesOf("aten::_foreach_norm.Scalar([f32[400], f32[3]], 3.0)"),
              ElementsAre(4, 4));
}

}  // namespace
}  // namespace steelyard
