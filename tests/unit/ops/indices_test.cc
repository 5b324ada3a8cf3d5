// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Indices, AreIntegers) {
  EXPECT_THAT(RefusalOf("aten::gather(f32[4,6], 1, f32[4,2])"), HasSubstr("int64 or int32"));
  EXPECT_THAT(RefusalOf("aten::take(f32[4,6], i32[2])"), HasSubstr("must be int64, not i32[2]"));
}

TEST(Indices, OthersAreCastUntilTheBufferOfHalvesIsThere) {
  EXPECT_THAT(EventsOf("aten::scatter_.src(bf16[4,6], 1, i32[4,6], bf16[4,6])"),
              ElementsAre(Line(4 * 6 * 8, "empty_strided"), Line(4 * 6 * 4, "empty"),
                          Line(-4 * 6 * 8, "scatter_"), Line(-4 * 6 * 4, "scatter_")));
}

TEST(Indices, SlicesFitTheirPlaces) {
  EXPECT_EQ(RefusalOf("aten::index_copy(f32[4,3], 0, i64[2], f32[2,3])"), "");
  EXPECT_THAT(RefusalOf("aten::index_copy(f32[4,3], 0, i64[2], f32[3,3])"),
              HasSubstr("f32[3,3] does not fit f32[4,3] at i64[2]"));
  EXPECT_THAT(RefusalOf("aten::index_copy(f32[4,3], 0, i64[2,1], f32[2,3])"),
              HasSubstr("more than one dimension"));
}

}  // namespace
}  // namespace steelyard
