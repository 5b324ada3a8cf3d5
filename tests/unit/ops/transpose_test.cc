// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Transpose, ExchangesStrides) {
  EXPECT_EQ(ResultOf("aten::transpose.int(f32[2,3,4], 0, 2)"), "f32[4,3,2]{1,4,12}");
  EXPECT_THAT(RefusalOf("aten::transpose.int(f32[2,3], 0, 2)"), HasSubstr("out of range"));
}

TEST(Transpose, MovedimKeepsTheOrderOfTheRest) {
  EXPECT_EQ(ResultOf("aten::movedim.int(f32[2,3,4], 0, -1)"), "f32[3,4,2]{4,1,12}");
}

TEST(Transpose, ANumberHasOneOrderOfDimensions) {
  EXPECT_EQ(ResultOf("aten::movedim.int(f32[], 0, -1)"), "f32[]");
  EXPECT_EQ(ResultOf("aten::mT(f32[])"), "f32[]");
  EXPECT_THAT(RefusalOf("aten::movedim.int(f32[], 1, 0)"), HasSubstr("out of range"));
  EXPECT_THAT(RefusalOf("aten::mT(f32[3])"), HasSubstr("has no matrices"));
}

TEST(Transpose, PermuteMustNameEachDimensionOnce) {
  EXPECT_THAT(RefusalOf("aten::permute(f32[2,3], [0,0])"),
              HasSubstr("does not order 2 dimensions"));
  EXPECT_THAT(RefusalOf("aten::permute(f32[2,3], [0])"), HasSubstr("does not order 2 dimensions"));
}

TEST(Transpose, InPlaceTheTensorItselfIsTransposed) {
  EXPECT_EQ(ResultOf("aten::transpose_(f32[2,3,4], 0, 2)"), "f32[4,3,2]{1,4,12}");
  EXPECT_EQ(ResultOf("aten::t_(f32[2,8])"), "f32[8,2]{1,8}");
  EXPECT_THAT(RefusalOf("aten::t_(f32[2,3,4])"), HasSubstr("at most 2 dimensions"));
}

}  // namespace
}  // namespace steelyard
