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

}  // namespace
}  // namespace steelyard
