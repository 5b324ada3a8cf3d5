// SPDX-License-Identifier: Apache-2.0
//
// Rows that are added by indices (ops/indexing.cc).

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kList = std::int64_t{5000} * 8;  // of int64

TEST(CudaIndexing, RowsThatAreAddedAreSorted) {
  EXPECT_THAT(
      CudaBytesOf("aten::_index_put_impl_(f32[40,6], [i64[5000]], f32[5000,6], True, True)"),
      ElementsAre(kList, kList, -kList, kList, kList, kList, 4607, -4607, -kList, -kList, -kList,
                  -kList));
}

// 256 places are told apart by one pass of 8 bits, 257 take two.
TEST(CudaIndexing, PassesFollowTheLargestPlace) {
  EXPECT_EQ(LargestOf("aten::_index_put_impl_(f32[256,6], [i64[5000]], f32[5000,6], True, True)"),
            kList);
  EXPECT_EQ(LargestOf("aten::_index_put_impl_(f32[257,6], [i64[5000]], f32[5000,6], True, True)"),
            87039);
}

TEST(CudaIndexing, CheckedIndicesHaveALeastAndALargest) {
  EXPECT_THAT(
      CudaBytesOf("aten::index_put_(f32[40,6], [i64[3]], f32[3,6], True)"),
      ElementsAre(8, 8, 1, -1, 1, -1, -8, -8, 24, 24, -24, 24, 24, 24, 1, -1, -24, -24, -24, -24));
}

// The places of the second list are added to those of the first; what lies between is moved.
TEST(CudaIndexing, IndicesOfDistantDimensionsMoveTheTensor) {
  constexpr std::int64_t kTensor = std::int64_t{40} * 7 * 6 * 4;
  EXPECT_THAT(CudaBytesOf("aten::_index_put_impl_(f32[40,7,6], [i64[5000], None, i64[5000]], "
                          "f32[5000,7], True, True)"),
              ElementsAre(kList, kList, -kList, kList, kList, -kList, -kList, kTensor, kList, kList,
                          kList, 4607, -4607, -kList, -kList, -kList, -kTensor, -kList));
}

}  // namespace
}  // namespace steelyard
