// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Scatter, RowsOfHalvesAreAddedThroughOneFloatRow) {
  EXPECT_THAT(EventsOf("aten::index_add_(bf16[4,16], 0, i64[2], bf16[2,16])"),
              ElementsAre(Line(16 * 4, "empty"), Line(-16 * 4, "scatter_add_")));
  EXPECT_THAT(EventsOf("aten::index_add_(bf16[4,8], 0, i64[2], bf16[2,8])"),
              ElementsAre(Line(4 * 8 * 4, "empty"), Line(-4 * 8 * 4, "scatter_add_")));
  EXPECT_THAT(EventsOf("aten::scatter_add_(f32[4,8], 0, i64[2,8], f32[2,8])"), IsEmpty());
}

TEST(Slices, AreFilledCopiedAndReduced) {
  EXPECT_THAT(NodesOf("aten::index_fill.int_Scalar(f32[4,3], 0, i64[2], 1.0)"),
              ElementsAre("clone", "index_fill_.int_Scalar", "drop"));
  EXPECT_EQ(ResultOf("aten::index_copy(f32[4,3], 0, i64[2], f32[2,3])"), "f32[4,3]");
  EXPECT_THAT(RefusalOf("aten::index_reduce(f32[4,3], 0, i64[2], f32[1,3], 'amax')"),
              HasSubstr("does not fit"));
}

TEST(Scatter, WhatIsWrittenIsOfTheTensorsDType) {
  for (const std::string_view call : {"aten::scatter_add(f32[4,8], 0, i64[2,8], bf16[2,8])",
                                      "aten::scatter_.src(f32[4,8], 0, i64[2,8], f64[2,8])",
                                      "aten::index_add(f32[4,16], 0, i64[2], bf16[2,16])"}) {
    EXPECT_THAT(RefusalOf(call), HasSubstr("of the tensor's dtype")) << call;
  }
}

}  // namespace
}  // namespace steelyard
