// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Gather, OfHalvesNeedsAFloatBuffer) {
  EXPECT_THAT(EventsOf("aten::gather(f32[4,6], 1, i64[4,2])"),
              ElementsAre(Line(4 * 2 * 4, "gather")));
  EXPECT_THAT(
      EventsOf("aten::gather(bf16[4,6], 1, i64[4,2])"),
      ElementsAre(Line(4 * 2 * 2, "gather"), Line(4 * 2 * 4, "empty"), Line(-4 * 2 * 4, "gather")));
  // One row after the other.
  EXPECT_THAT(EventsOf("aten::gather(bf16[4,6], 0, i64[2,6]{1,0})"),
              ElementsAre(Line(2 * 6 * 2, "gather")));
  EXPECT_THAT(RefusalOf("aten::gather(f32[4,6], 1, i64[5,2])"),
              HasSubstr("exceeds dimension 0: 5 vs 4"));
}

TEST(TakeAlongDim, IndicesAreWrapped) {
  EXPECT_EQ(ResultOf("aten::take_along_dim(f32[2,3], i64[1,5], 1)"), "f32[2,5]");
  EXPECT_EQ(ResultOf("aten::take_along_dim(f32[2,3], i64[5])"), "f32[5]");
}

}  // namespace
}  // namespace steelyard
