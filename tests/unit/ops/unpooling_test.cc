// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Unpooling, ImagesAreAsLargeAsAskedFor) {
  EXPECT_THAT(EventsOf("aten::max_unpool2d(f32[2,3,4,4], i64[2,3,4,4], [8,9])"),
              ElementsAre(Line(2 * 3 * 8 * 9 * 4, "resize_")));
  EXPECT_THAT(RefusalOf("aten::max_unpool2d(f32[2,3,4,4], i64[2,3,4,3], [8,9])"),
              HasSubstr("one place for each"));
}

// Windows of two by two at sixteen places of each of six images.
TEST(Unpooling, RandomWindowsAreCompared) {
  EXPECT_EQ(WorkOf("aten::fractional_max_pool2d(f32[2,3,8,8], [2,2], [4,4], f32[2,3,2])").compare,
            2 * 3 * 4 * 4 * (2 * 2));
  EXPECT_THAT(RefusalOf("aten::fractional_max_pool2d(f32[2,3,8,8], [2,2], [8,8], f32[2,3,2])"),
              HasSubstr("do not fit"));
}

}  // namespace
}  // namespace steelyard
