// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Factorization, ResultsLieColumnByColumn) {
  EXPECT_EQ(ResultOf("aten::linalg_inv(f32[2,3,3])"), "f32[2,3,3]{9,1,3}");
  EXPECT_EQ(ResultOf("aten::linalg_svd(f32[5,3], False)"), "f32[5,3]{1,5}");
  EXPECT_EQ(ResultOf("aten::linalg_svd(f32[5,3], False)", 1), "f32[3]");
  EXPECT_EQ(ResultOf("aten::linalg_qr(f32[5,3])", 1), "f32[3,3]{1,3}");
}

TEST(Factorization, OperationsAreThoseOfTheUsersGuide) {
  // Elimination of n x n: 2 n^3 - 2 n^3 + 2 n^3 / 3; one right-hand side more: 2 n^2.
  EXPECT_EQ(WorkOf("aten::linalg_lu_factor_ex(f32[30,30])").alu, Count(2 * 30 * 30 * 30 / 3));
  EXPECT_EQ(WorkOf("aten::linalg_lu_solve(f32[3,3]{1,3}, i32[3], f32[3,4])").mac, Count(0));
  EXPECT_EQ(WorkOf("aten::linalg_cholesky_ex(f32[30,30])").alu, Count(30 * 30 * 30 / 3));
}

TEST(Factorization, DeterminantsNeedTheFactors) {
  EXPECT_EQ(ResultOf("aten::linalg_det(f32[2,3,3])"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::linalg_slogdet(f64[2,3,3])", 1), "f64[2]");
  EXPECT_THAT(RefusalOf("aten::linalg_det(f32[2,3])"), HasSubstr("not square"));
}

TEST(Factorization, WorkspacesAreWhatMklAsksFor) {
  // 2 + 6 n + 2 n^2 numbers and 3 + 5 n integers for n = 3, recorded from PyTorch 2.15.
  EXPECT_THAT(
      EventsOf("aten::_linalg_eigh(f32[3,3])"),
      ElementsAre(Line(9 * 4, "_linalg_eigh"), Line(3 * 4, "_linalg_eigh"), Line(4, "empty"),
                  Line(38 * 4, "empty"), Line(18 * 4, "empty"), Line(-18 * 4, "_linalg_eigh"),
                  Line(-38 * 4, "_linalg_eigh"), Line(1, "any"), Line(1, "empty_strided"),
                  Line(-1, "any"), Line(-1, "_linalg_check_errors"), Line(-4, "_linalg_eigh")));
}

TEST(Factorization, OperandsAreMatricesOfFloats) {
  EXPECT_THAT(RefusalOf("aten::linalg_inv(i64[3,3])"), HasSubstr("dtype"));
  EXPECT_THAT(RefusalOf("aten::linalg_solve(f32[3,3], f32[4,2])"), HasSubstr("rows of A"));
  EXPECT_THAT(RefusalOf("aten::linalg_cross(f32[2,4], f32[2,4])"), HasSubstr("cross products"));
}

}  // namespace
}  // namespace steelyard
