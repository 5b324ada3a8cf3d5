// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(MatrixExponential, PowersAndTheirSumsAreFiveTimesTheMatrices) {
  const auto events = EventsOf("aten::linalg_matrix_exp(f32[2,4,4])");
  EXPECT_THAT(events, Contains(Line(5 * 2 * 4 * 4 * 4, "empty")).Times(2));
  EXPECT_EQ(ResultOf("aten::linalg_matrix_exp(f32[2,4,4])"), "f32[2,4,4]");
}

TEST(MatrixExponential, ASingleMatrixIsAskedForEachDegree) {
  EXPECT_THAT(NodesOf("aten::matrix_exp(f64[4,4])"), Contains("le.Scalar").Times(5));
  EXPECT_THAT(NodesOf("aten::matrix_exp(f64[2,4,4])"), Contains("le.Scalar").Times(0));
}

TEST(MatrixExponential, ANumberIsOne) {
  EXPECT_THAT(NodesOf("aten::matrix_exp(f32[3,1,1])"), Contains("exp").Times(1));
}

TEST(MatrixExponential, MatricesMustBeSquareAndFloating) {
  EXPECT_THAT(RefusalOf("aten::linalg_matrix_exp(f32[3,4])"), HasSubstr("not square"));
  EXPECT_THAT(RefusalOf("aten::linalg_matrix_exp(i64[3,3])"), HasSubstr("dtype"));
}

}  // namespace
}  // namespace steelyard
