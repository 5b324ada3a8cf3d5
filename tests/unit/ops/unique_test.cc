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

TEST(Unique, SortsAndCounts) {
  EXPECT_EQ(ResultOf("aten::_unique2(i64[11], True, True, True)", 0), "i64[11]");
  EXPECT_EQ(ResultOf("aten::_unique2(i64[11,1], True, True, True)", 1), "i64[11,1]");
  EXPECT_EQ(ResultOf("aten::_unique2(f32[11])", 1), "i64[0]");
  EXPECT_EQ(ResultOf("aten::_unique2(bool[11])", 0), "bool[2]");
  EXPECT_EQ(ResultOf("aten::_unique(u8[300], True, True)", 0), "u8[256]");
  EXPECT_THAT(EventsOf("aten::_unique2(f32[11], True, False, True)"),
              ElementsAre(Line(11 * 4, "sort"), Line(11 * 8, "sort"), Line(11 * 8, "resize_"),
                          Line(-11 * 8, "sort"), Line(11 * 4, "resize_"), Line(11 * 8, "resize_"),
                          Line((11 + 1) * 8, "resize_"), Line(-11 * 4, "_unique2"),
                          Line(-11 * 8, "_unique2"), Line(-(11 + 1) * 8, "_unique2")));
}

}  // namespace
}  // namespace steelyard
