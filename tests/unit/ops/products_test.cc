// SPDX-License-Identifier: Apache-2.0

#include "ops/products.h"

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Products, AChainIsMultipliedInTheCheapestOrder) {
  // From the right 10 x 2 and 4 x 10 x 2 are less than 4 x 8 x 10 and 4 x 10 x 2.
  EXPECT_EQ(WorkOf("aten::linalg_multi_dot([f32[4,8], f32[8,10], f32[10,2]])").mac,
            Count(8 * 10 * 2 + 4 * 8 * 2));
  // Of four, too, the last two go first.
  EXPECT_EQ(WorkOf("aten::linalg_multi_dot([f32[4,8], f32[8,3], f32[3,5], f32[5,2]])").mac,
            Count(3 * 5 * 2 + 8 * 3 * 2 + 4 * 8 * 2));
  EXPECT_EQ(ResultOf("aten::linalg_multi_dot([f32[8], f32[8,3], f32[3]])"), "f32[]");
  EXPECT_THAT(RefusalOf("aten::linalg_multi_dot([f32[4,8], f32[7,3]])"),
              HasSubstr("inner dimensions"));
}

TEST(Products, ABilinearFormTakesOneRowOfItsWeightAfterTheOther) {
  const char* call = "aten::bilinear(f32[4,3], f32[4,5], f32[2,3,5], f32[2])";
  EXPECT_EQ(ResultOf(call), "f32[4,2]");
  EXPECT_EQ(WorkOf(call).mac, Count(2 * (4 * 3 * 5 + 4 * 5)));
  EXPECT_THAT(EventsOf(call),
              ElementsAre(Line(4 * 2 * 4, "empty"), Line(4 * 5 * 4, "bmm"), Line(4 * 4, "bmm"),
                          Line(-4 * 5 * 4, "_trilinear"), Line(-4 * 4, "_trilinear"),
                          Line(4 * 5 * 4, "bmm"), Line(4 * 4, "bmm"),
                          Line(-4 * 5 * 4, "_trilinear"), Line(-4 * 4, "_trilinear"),
                          Line(4 * 2 * 4, "add"), Line(-4 * 2 * 4, "bilinear")));
}

TEST(Products, VectorsOfComplexNumbersAreConjugated) {
  EXPECT_THAT(EventsOf("aten::vdot(c64[8], c64[8])"), ElementsAre(Line(8, "empty")));
  EXPECT_EQ(ResultOf("aten::linalg_vecdot(c64[4,8], c64[8])"), "c64[4]");
  EXPECT_THAT(RefusalOf("aten::linalg_vecdot(i64[8], i64[8])"), HasSubstr("floating-point"));
}

TEST(Products, AnOuterProductIsAddedInOneKernel) {
  EXPECT_THAT(EventsOf("aten::addr(f32[4,8], f32[4], f32[8])"),
              ElementsAre(Line(4 * 8 * 4, "empty")));
  EXPECT_EQ(ResultOf("aten::addr(f64[8], f32[4], f32[8])"), "f64[4,8]");
}

}  // namespace
}  // namespace steelyard
