// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Polar, ARootIsMadeOfEigenvalues) {
  EXPECT_EQ(ResultOf("aten::linalg_matrix_sqrth(f32[2,3,3])"), "f32[2,3,3]");
  EXPECT_THAT(NodesOf("aten::linalg_matrix_sqrth(f32[2,3,3])"), Contains("sqrt"));
  EXPECT_THAT(RefusalOf("aten::linalg_matrix_sqrth(f32[3,4])"), HasSubstr("square"));
}

TEST(Polar, FactorsAreOfTallMatrices) {
  EXPECT_THAT(NodesOf("aten::linalg_polar(f32[2,5,3])"), Contains("bmm").Times(2));
  EXPECT_THAT(RefusalOf("aten::linalg_polar(f32[3,5])"), HasSubstr("fewer rows than columns"));
}

}  // namespace
}  // namespace steelyard
