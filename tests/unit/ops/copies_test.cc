// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Copies, AViewIsCopiedContiguous) {
  EXPECT_EQ(ResultOf("aten::transpose_copy.int(f32[2,3,4], 1, 2)"), "f32[2,4,3]");
  EXPECT_THAT(EventsOf("aten::expand_copy(f32[2,1], [2,3])"),
              ElementsAre(Line(2 * 3 * 4, "empty")));
  EXPECT_EQ(ResultOf("aten::unbind_copy.int(f32[3,2])", 2), "f32[2]");
}

TEST(Copies, WhatNoViewShowsIsReshaped) {
  EXPECT_THAT(NodesOf("aten::view_copy(f32[2,6], [3,4])"), ElementsAre("view", "clone", "drop"));
  EXPECT_EQ(ResultOf("aten::view_copy(f32[2,6]{1,2}, [3,4])"), "f32[3,4]");
}

TEST(Copies, ARangeOfATensorInAnotherOrderIsCopiedTwice) {
  EXPECT_THAT(EventsOf("aten::narrow_copy(f32[4,6]{1,4}, 1, 2, 3)"),
              ElementsAre(Line(4 * 6 * 4, "empty"), Line(4 * 3 * 4, "narrow_copy"),
                          Line(-4 * 6 * 4, "narrow_copy")));
  EXPECT_THAT(RefusalOf("aten::narrow_copy(f32[4,6], 1, 5, 3)"), HasSubstr("does not fit"));
}

TEST(Copies, PlacesAreWrittenInACopy) {
  EXPECT_THAT(NodesOf("aten::select_scatter(f32[4,3], f32[3], 0, 1)"),
              ElementsAre("as_strided", "clone", "as_strided", "drop", "drop", "select.int",
                          "copy_", "drop", "drop"));
  EXPECT_THAT(RefusalOf("aten::slice_scatter(f32[4,3], f32[1,3], 0, 1, 3)"),
              HasSubstr("not of the size"));
}

}  // namespace
}  // namespace steelyard
