// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string_view>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(ScatterReduce, MeansAreDividedByCounts) {
  constexpr std::string_view kCall =
      "aten::scatter_reduce.two(f32[4,3], 0, i64[2,3], f32[2,3], 'mean')";
  EXPECT_EQ(ResultOf(kCall), "f32[4,3]");
  EXPECT_EQ(EventsOf(kCall).front(), Line(4 * 3 * 4, "scatter_reduce"));
  EXPECT_EQ(EventsOf(kCall).back(), Line(-2 * 3 * 4, "scatter_reduce"));
}

TEST(ScatterReduce, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::scatter_reduce.two(f32[4,3], 0, i64[2,3], f32[2,3], 'median')"),
              HasSubstr("no reduction is called median"));
  EXPECT_THAT(RefusalOf("aten::scatter_reduce.two(f32[4,3], 0, i64[2,4], f32[2,4], 'sum')"),
              HasSubstr("too large"));
}

TEST(IndexReduce, SlicesAreReducedWhereAnIndexSays) {
  EXPECT_EQ(ResultOf("aten::index_reduce(f32[4,3], 0, i64[2], f32[2,3], 'amax')"), "f32[4,3]");
  EXPECT_THAT(RefusalOf("aten::index_reduce(f32[4,3], 0, i64[2], f32[2,3], 'sum')"),
              HasSubstr("no reduction is called sum"));
}

}  // namespace
}  // namespace steelyard
