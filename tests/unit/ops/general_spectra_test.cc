// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(GeneralSpectra, ValuesOfRealMatricesAreComplex) {
  EXPECT_EQ(ResultOf("aten::linalg_eigvals(f32[2,5,5])"), "c64[2,5]");
  EXPECT_EQ(ResultOf("aten::linalg_eig(f64[5,5])", 1), "c128[5,5]{1,5}");
  EXPECT_THAT(RefusalOf("aten::linalg_eig(f32[5,3])"), HasSubstr("not square"));
}

TEST(GeneralSpectra, WorkspacesGrowWithTheBlocksOfTheLibrary) {
  EXPECT_THAT(EventsOf("aten::linalg_eig(f32[10,10])"), Contains(Line((34 * 10 + 1) * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::linalg_eig(f32[11,11])"),
              Contains(Line((386 * 11 + 1) * 4, "empty")));
  // 33 a column, until both matrices of vectors take more.
  EXPECT_THAT(EventsOf("aten::linalg_eig(c64[16,16])"),
              Contains(Line((2 * 16 * 16 + 3 * 16 + 1) * 8, "empty")));
}

TEST(GeneralSpectra, LeastSquaresAreSolvedInARoomAsTallAsTheLongerSide) {
  const char* call = "aten::linalg_lstsq(f32[5,3], f32[5,2])";
  EXPECT_EQ(ResultOf(call), "f32[3,2]{1,5}");
  EXPECT_EQ(ResultOf(call, 1), "f32[0]");
  EXPECT_THAT(EventsOf(call), Contains(Line(5 * 2 * 4, "resize_")));
  EXPECT_THAT(EventsOf(call), Contains(Line((3 + 2 * 3 + (3 + 1) + 1) * 4, "empty")));
  EXPECT_THAT(RefusalOf("aten::linalg_lstsq(f32[5,3], f32[5,2], driver='gels')"),
              HasSubstr("gelsy"));
}

}  // namespace
}  // namespace steelyard
