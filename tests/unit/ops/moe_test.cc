// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Topk, GivesValuesAndPositions) {
  EXPECT_THAT(EventsOf("aten::topk(f32[6,8], 2)"),
              ElementsAre(Line(6 * 2 * 4, "topk"), Line(6 * 2 * 8, "topk")));
  EXPECT_EQ(ResultOf("aten::topk(f32[6,8]{1,6}, 2, 0)"), "f32[2,8]");
  EXPECT_EQ(ResultOf("aten::topk(f32[6,8], 2)", 1), "i64[6,2]");
  EXPECT_EQ(WorkOf("aten::topk(f32[6,8], 4)").compare,
            Count(6 * 8 * 2));  // two decisions among four
  EXPECT_THAT(RefusalOf("aten::topk(f32[6,8], 9)"), HasSubstr("the 9 largest of 8"));
}

TEST(Sort, StartsFromThePositionsOfOneRow) {
  EXPECT_THAT(EventsOf("aten::sort(f32[6,8])"),
              ElementsAre(Line(6 * 8 * 4, "sort"), Line(6 * 8 * 8, "sort"), Line(8 * 8, "resize_"),
                          Line(-8 * 8, "sort")));
  EXPECT_EQ(ResultOf("aten::sort(f32[6,8]{1,6}, 0)"), "f32[6,8]{1,6}");
  EXPECT_EQ(WorkOf("aten::sort(i64[1024])").compare, Count(1024 * 10));
}

TEST(Sort, ArgsortDropsTheValues) {
  EXPECT_EQ(ResultOf("aten::argsort(f32[6,8])"), "i64[6,8]");
  EXPECT_EQ(EventsOf("aten::argsort(f32[6,8])").back(), Line(-6 * 8 * 4, "argsort"));
}

TEST(Histc, NeedsEdgesAndCounts) {
  EXPECT_THAT(EventsOf("aten::histc(f32[100], 8, 0, 7)"),
              ElementsAre(Line(9 * 4, "histc"), Line(8 * 4, "histc"), Line(8 * 4, "empty"),
                          Line(-8 * 4, "histc"), Line(-9 * 4, "histc")));
  // Equal limits stand for the least and the largest element.
  EXPECT_THAT(EventsOf("aten::histc(f32[100], 8)"), testing::Contains(Line(4, "aminmax")));
  EXPECT_THAT(RefusalOf("aten::histc(f32[100], 0)"), HasSubstr("0 bins"));
}

TEST(GroupedProduct, EveryRowMeetsOneMatrix) {
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

TEST(GroupedProduct, RowsStartAtMultiplesOf16Bytes) {
  EXPECT_EQ(ResultOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])"), "bf16[12,16]");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,12], i32[4])"), "bf16[12,12]{16,1}");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[12,8], f32[4,8,6], i32[4])"), "f32[12,6]{8,1}");
  EXPECT_THAT(EventsOf("aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])"),
              ElementsAre(Line(12 * 16 * 2, "empty_strided")));
}

TEST(GroupedProduct, GroupsMayLieInAnyDimension) {
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[8,12], f32[12,4], i32[3])"), "f32[3,8,4]");
  EXPECT_EQ(ResultOf("aten::_grouped_mm(f32[3,8,12], f32[12,16], i32[3])"), "f32[8,16]");
}

TEST(GroupedProduct, WrongOperandsAreRefused) {
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
