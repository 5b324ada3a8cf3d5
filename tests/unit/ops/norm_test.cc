// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Norm, OfVectorsAndMatrices) {
  EXPECT_EQ(ResultOf("aten::linalg_norm(f32[2,8], None, [1])"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::linalg_norm(f32[2,8], 1)"), "f32[]");
  EXPECT_EQ(ResultOf("aten::linalg_matrix_norm(f32[5,2,8], 1, keepdim=True)"), "f32[5,1,1]");
  EXPECT_THAT(RefusalOf("aten::linalg_matrix_norm(f32[2,8], 3)"), HasSubstr("of that order"));
}

TEST(Norm, BySingularValuesOfAnyTwoDimensions) {
  EXPECT_EQ(ResultOf("aten::linalg_matrix_norm(f32[2,4,3], 2, [0,2], True)"), "f32[1,4,1]");
  EXPECT_EQ(ResultOf("aten::linalg_norm.ord_str(f32[4,3], 'nuc')"), "f32[]");
  EXPECT_EQ(ResultOf("aten::nuclear_norm.dim(f32[4,2,3], [0,2])"), "f32[2]");
}

}  // namespace
}  // namespace steelyard
