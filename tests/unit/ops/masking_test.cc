// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Masking, WherePromotesItsChoicesOnly) {
  EXPECT_EQ(ResultOf("aten::where.self(bool[2,8], f32[8], f64[])"), "f32[2,8]");
  EXPECT_THAT(
      EventsOf("aten::where.self(bool[5], bf16[5], f32[5])"),
      ElementsAre(Line(5 * 4, "empty_strided"), Line(5 * 4, "where"), Line(-5 * 4, "where")));
  EXPECT_THAT(RefusalOf("aten::where.self(f32[5], f32[5], f32[5])"), HasSubstr("must be bool"));
}

TEST(Masking, WhereMakesATensorOfANumber) {
  EXPECT_THAT(EventsOf("aten::where.ScalarOther(bool[5], i64[5], 0.0)"),
              ElementsAre(Line(4, "scalar_tensor"), Line(5 * 4, "empty_strided"),
                          Line(5 * 4, "where"), Line(-5 * 4, "where"), Line(-4, "where")));
  EXPECT_THAT(EventsOf("aten::where.ScalarSelf(bool[5], 1.0, f16[5])"),
              ElementsAre(Line(2, "scalar_tensor"), Line(5 * 2, "where"), Line(-2, "where")));
}

TEST(Masking, MaskedFillCopiesRowMajor) {
  EXPECT_EQ(ResultOf("aten::masked_fill.Scalar(f32[8,2]{1,8}, bool[8,2], 0)"), "f32[8,2]");
  EXPECT_THAT(EventsOf("aten::masked_fill.Scalar(f32[8], bool[2,8], 0)"),
              ElementsAre(Line(2 * 8 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::masked_fill_.Scalar(f32[2,8], bool[8], 0)"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::masked_fill_.Scalar(f32[8], bool[2,8], 0)"),
              HasSubstr("more dimensions"));
}

}  // namespace
}  // namespace steelyard
