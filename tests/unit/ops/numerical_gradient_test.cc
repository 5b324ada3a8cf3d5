// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Inside, the difference over two steps is halved; at each edge it is one step wide.
TEST(NumericalGradient, OneDimensionIsJoinedOfThreeParts) {
  constexpr int kInner = 4 * 8, kEdge = 1 * 8;
  EXPECT_THAT(
      EventsOf("aten::gradient.scalarint(f64[6], spacing=2.0, dim=0)"),
      ElementsAre(Line(kInner, "sub"), Line(8, "div"), Line(kInner, "div"), Line(-8, "div"),
                  Line(-kInner, "gradient"), Line(kEdge, "sub"), Line(8, "div"), Line(kEdge, "div"),
                  Line(-8, "div"), Line(-kEdge, "gradient"), Line(kEdge, "sub"), Line(8, "div"),
                  Line(kEdge, "div"), Line(-8, "div"), Line(-kEdge, "gradient"), Line(8, "div"),
                  Line(8, "empty_strided"), Line(kInner, "div"), Line(-8, "div"), Line(-8, "div"),
                  Line(6 * 8, "cat"), Line(-kInner, "gradient"), Line(-kInner, "gradient"),
                  Line(-kEdge, "gradient"), Line(-kEdge, "gradient")));
}

TEST(NumericalGradient, AResultForEachDimension) {
  EXPECT_EQ(ResultOf("aten::gradient.array(f32[6,8], dim=[0,1])", 1), "f32[6,8]");
  EXPECT_EQ(ResultOf("aten::gradient.scalarint(f32[6,8])", 1), "f32[6,8]");
}

TEST(NumericalGradient, EdgesNeedNeighbours) {
  EXPECT_THAT(RefusalOf("aten::gradient.scalarint(f32[2], edge_order=2)"),
              HasSubstr("2 elements for differences of order 2"));
  EXPECT_THAT(RefusalOf("aten::gradient.scalarint(f32[6], edge_order=3)"), HasSubstr("order 3"));
  EXPECT_THAT(RefusalOf("aten::gradient.tensorarray(f32[6,8], spacing=[f32[6]], dim=[0,1])"),
              HasSubstr("1 dimensions of 2"));
}

}  // namespace
}  // namespace steelyard
