// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PixelShuffle, ChannelsBecomePixels) {
  EXPECT_EQ(ResultOf("aten::pixel_shuffle(f32[2,12,3,3], 2)"), "f32[2,3,6,6]");
  EXPECT_EQ(ResultOf("aten::pixel_unshuffle(f32[2,3,6,6], 2)"), "f32[2,12,3,3]");
  EXPECT_THAT(EventsOf("aten::pixel_shuffle(f32[2,12,3,3], 2)"),
              ElementsAre(Line(2 * 12 * 9 * 4, "resize_")));
  EXPECT_THAT(RefusalOf("aten::pixel_shuffle(f32[2,10,3,3], 2)"), HasSubstr("10 channels"));
}

}  // namespace
}  // namespace steelyard
