// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Spectra, VectorsLieColumnByColumn) {
  EXPECT_EQ(ResultOf("aten::linalg_eigh(f32[2,3,3])", 1), "f32[2,3,3]{9,1,3}");
  EXPECT_EQ(ResultOf("aten::linalg_svdvals(f32[2,3,5])"), "f32[2,3]");
  EXPECT_EQ(ResultOf("aten::linalg_qr(f32[5,3])"), "f32[5,3]{1,5}");
}

TEST(Spectra, PowersAreSquaredAndMultiplied) {
  // The fifth: two squares and a product.
  EXPECT_EQ(WorkOf("aten::linalg_matrix_power(f32[3,3], 5)").mac, Count(3 * 27));
  EXPECT_THAT(RefusalOf("aten::linalg_eigh(f32[2,3])"), HasSubstr("not square"));
}

}  // namespace
}  // namespace steelyard
