// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Lu, FactorsAreAsWideOrAsTallAsTheMatrix) {
  EXPECT_EQ(ResultOf("aten::linalg_lu(f32[2,4,3])", 0), "f32[2,4,4]");
  EXPECT_EQ(ResultOf("aten::linalg_lu(f32[2,4,3])", 1), "f32[2,4,3]");
  EXPECT_EQ(ResultOf("aten::linalg_lu(f32[2,4,3])", 2), "f32[2,3,3]");
  EXPECT_THAT(RefusalOf("aten::linalg_lu(f32[4,3], pivot=False)"), HasSubstr("pivots"));
}

TEST(Lu, WhatIsNotAskedForIsEmpty) {
  EXPECT_EQ(ResultOf("aten::lu_unpack(f32[4,3]{1,4}, i32[3], True, False)", 0), "f32[0]");
  EXPECT_THAT(EventsOf("aten::lu_unpack(f32[4,3]{1,4}, i32[3], True, False)"),
              Not(Contains(Line(4 * 8, "resize_"))));
  EXPECT_THAT(EventsOf("aten::lu_unpack(f32[4,3]{1,4}, i32[3])"),
              Contains(Line(4 * 8, "resize_")));  // the places that the pivots exchange
  EXPECT_THAT(RefusalOf("aten::lu_unpack(f32[4,3], i32[4])"), HasSubstr("pivots"));
}

TEST(Lu, SymmetricFactorsHaveAWorkspaceOfBlocks) {
  EXPECT_THAT(EventsOf("aten::linalg_ldl_factor_ex(f32[3,3])"), Contains(Line(3 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::linalg_ldl_factor_ex(f32[12,12])"),
              Contains(Line(12 * 24 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::linalg_ldl_factor_ex(c64[12,12], hermitian=True)"),
              Contains(Line(12 * 64 * 8, "empty")));
}

}  // namespace
}  // namespace steelyard
