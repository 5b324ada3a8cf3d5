// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Inverses, APseudoinverseHasTheSizesOfTheTransposed) {
  EXPECT_EQ(ResultOf("aten::linalg_pinv(f32[2,5,3], 1e-5)"), "f32[2,3,5]");
  EXPECT_EQ(ResultOf("aten::pinverse(f32[5,3])"), "f32[3,5]");
  EXPECT_THAT(RefusalOf("aten::linalg_pinv(i64[5,3], 1e-5)"), HasSubstr("dtype"));
}

TEST(Inverses, ARootIsInvertedInACopyThatLiesByColumns) {
  EXPECT_EQ(ResultOf("aten::cholesky_inverse(f32[2,3,3])"), "f32[2,3,3]{9,1,3}");
  EXPECT_THAT(RefusalOf("aten::cholesky_inverse(f32[3,4])"), HasSubstr("not square"));
}

TEST(Inverses, TolerancesAreNumbersOfEightBytes) {
  const auto events = EventsOf("aten::linalg_matrix_rank.atol_rtol_float(f32[5,3])");
  EXPECT_THAT(events, Contains(Line(8, "empty")).Times(3));  // with the rank
}

TEST(Inverses, AConditionIsARatioOrAProductOfNorms) {
  EXPECT_EQ(ResultOf("aten::linalg_cond(f32[2,3,4])"), "f32[2]");
  EXPECT_THAT(NodesOf("aten::linalg_cond(f32[3,3], 1)"), Contains("linalg_vector_norm").Times(2));
  EXPECT_THAT(RefusalOf("aten::linalg_cond(f32[2,3,4], 1)"), HasSubstr("not square"));
}

TEST(Inverses, TensorsAreMatricesOfTheirFirstDimensions) {
  EXPECT_EQ(ResultOf("aten::linalg_tensorinv(f32[2,2,4])"), "f32[4,2,2]{1,8,4}");
  EXPECT_EQ(ResultOf("aten::linalg_tensorsolve(f32[2,2,4], f32[2,2])"), "f32[4]");
  EXPECT_THAT(RefusalOf("aten::linalg_tensorinv(f32[2,3,4])"), HasSubstr("rows and columns"));
}

TEST(Inverses, PowersOfNumbersBeginWithOne) {
  EXPECT_EQ(ResultOf("aten::linalg_vander(f32[2,4], N=3)"), "f32[2,4,3]");
  EXPECT_THAT(RefusalOf("aten::linalg_vander(f32[4], N=1)"), HasSubstr("two powers"));
}

}  // namespace
}  // namespace steelyard
