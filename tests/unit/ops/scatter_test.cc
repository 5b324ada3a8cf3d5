// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
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

TEST(Slices, AreFilledCopiedAndReduced) {
  EXPECT_THAT(NodesOf("aten::index_fill.int_Scalar(f32[4,3], 0, i64[2], 1.0)"),
              ElementsAre("clone", "index_fill_.int_Scalar", "drop"));
  EXPECT_EQ(ResultOf("aten::index_copy(f32[4,3], 0, i64[2], f32[2,3])"), "f32[4,3]");
  EXPECT_THAT(RefusalOf("aten::index_reduce(f32[4,3], 0, i64[2], f32[1,3], 'amax')"),
              HasSubstr("does not fit"));
}

TEST(TakeAlongDim, IndicesAreWrapped) {
  EXPECT_EQ(ResultOf("aten::take_along_dim(f32[2,3], i64[1,5], 1)"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::take_along_dim(f32[2,3], i64[5])"), "f32[5]");
}

}  // namespace
}  // namespace steelyard
