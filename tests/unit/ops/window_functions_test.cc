// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WindowFunctions, APeriodicWindowIsCutFromALongerOne) {
  EXPECT_EQ(ResultOf("aten::hann_window(16)"), "f32[16]");
  EXPECT_EQ(EventsOf("aten::hann_window(16)")[0], Line((16 + 1) * 4, "resize_"));
  EXPECT_EQ(EventsOf("aten::hann_window.periodic(16, False)")[0], Line(16 * 4, "resize_"));
}

TEST(WindowFunctions, AKaiserWindowIsMadeBesideItsPlaces) {
  EXPECT_THAT(
      EventsOf("aten::kaiser_window(16)"),
      ElementsAre(Line(17 * 4, "resize_"), Line(17 * 4, "empty"), Line(-17 * 4, "kaiser_window")));
}

TEST(WindowFunctions, ShortOnesHaveNoShape) {
  EXPECT_THAT(NodesOf("aten::bartlett_window(1)"), ElementsAre("ones"));
  EXPECT_THAT(RefusalOf("aten::hann_window(-1)"), HasSubstr("negative"));
}

}  // namespace
}  // namespace steelyard
