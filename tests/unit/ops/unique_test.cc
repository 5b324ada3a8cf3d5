// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Without a size in the file every element may be one of its own.
TEST(Unique, RunsHaveRoomForAll) {
  EXPECT_EQ(ResultOf("aten::unique_consecutive(i64[3,4], True, True)"), "i64[12]");
  EXPECT_THAT(EventsOf("aten::unique_consecutive(f32[3,4], True, True)"),
              ElementsAre(Line(3 * 4 * 4, "empty"), Line(3 * 4 * 8, "resize_"),
                          Line(3 * 4 * 8, "resize_")));
}

// Columns are moved to the front and made rows; counts are made whether asked for or not.
TEST(Unique, RowsOfOneDimensionAreOrderedInACopy) {
  EXPECT_EQ(ResultOf("aten::unique_dim(f32[3,4], 1)"), "f32[3,4]{1,3}");
  constexpr int kBytes = 3 * 4 * 4, kPlaces = 3 * 8;
  EXPECT_THAT(
      EventsOf("aten::unique_dim(f32[3,4], 0)"),
      ElementsAre(Line(kBytes, "index_select"), Line(kPlaces, "empty"), Line(kPlaces, "empty"),
                  Line(kBytes, "cat"), Line(-kBytes, "unique_dim")));
  EXPECT_THAT(RefusalOf("aten::unique_dim(f32[0,4], 0)"), HasSubstr("no elements"));
}

}  // namespace
}  // namespace steelyard
