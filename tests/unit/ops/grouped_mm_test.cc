// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GroupedMm, EveryRowMeetsOneMatrix) {
  // 12 rows go to 4 experts: the work is that of one matrix for each row, not of all four.
  EXPECT_EQ(WorkOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])").mac, Count(12 * 8 * 16));
  const char* scaled =
      "aten::_scaled_grouped_mm(f8e4m3[32,16], f8e4m3[4,16,32]{512,1,16}, f32[32], f32[4,32], "
      "i32[4])";
  EXPECT_EQ(WorkOf(scaled).mac, Count(32 * 16 * 32));
  EXPECT_EQ(ResultOf(scaled), "bf16[32,32]");
  EXPECT_EQ(WorkOf("transformers::grouped_mm_fallback(f32[12,8], f32[4,8,5], i32[4])").mac,
            Count(12 * 8 * 5));
  EXPECT_EQ(WorkOf("aten::_grouped_mm(f32[4,3,8], f32[4,8,16])").mac, Count(4 * 3 * 8 * 16));
}

TEST(GroupedMm, RowsStartAtMultiplesOf16Bytes) {
  EXPECT_EQ(ResultOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])"), "bf16[12,16]");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,12], i32[4])"), "bf16[12,12]{16,1}");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[12,8], f32[4,8,6], i32[4])"), "f32[12,6]{8,1}");
  EXPECT_THAT(EventsOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])"),
              ElementsAre(Line(12 * 16 * 2, "empty_strided")));
}

TEST(GroupedMm, GroupsMayLieInAnyDimension) {
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[8,12], f32[12,4], i32[3])"), "f32[3,8,4]");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[3,8,12], f32[12,16], i32[3])"), "f32[8,16]");
}

TEST(GroupedMm, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::_scaled_grouped_mm(bf16[32,16], f8e4m3[4,16,32]{512,1,16}, f32[32], "
                        "f32[4,32], i32[4])"),
              HasSubstr("float8"));
  EXPECT_THAT(RefusalOf("aten::_grouped_mm(f32[12,8], f32[4,8,16])"),
              HasSubstr("need the offsets"));
  EXPECT_THAT(RefusalOf("aten::_grouped_mm(f32[12,8], f32[4,8,16], i32[5])"),
              HasSubstr("groups differ: 4 vs 5"));
  EXPECT_THAT(RefusalOf("aten::_grouped_mm(f32[12,8], f32[4,9,16], i32[4])"),
              HasSubstr("inner dimensions differ"));
  EXPECT_THAT(RefusalOf("aten::_grouped_mm(f32[12], f32[4,9,16], i32[4])"),
              HasSubstr("grouped products of f32[12]"));
}

}  // namespace
}  // namespace steelyard
