// SPDX-License-Identifier: Apache-2.0
#include "render/memory_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::render {
namespace {

using testing::HasSubstr;

report::MemoryTimeline TwoMoments() {
  report::MemoryTimeline timeline;
  timeline.categories = {"PARAMETER", "Unknown"};
  timeline.changes = {{.at = -1, .bytes = 40, .category = 0},
                      {.at = 7000, .bytes = 60, .category = 1},
                      {.at = 9000, .bytes = -60, .category = 1}};
  timeline.all = {.times = {5, 7}, .sizes = {40, 0, 40, 60}};
  timeline.drawn = timeline.all;
  timeline.peak = 100;
  return timeline;
}

TEST(MemoryTimeline, JsonIsAsPyTorchWritesIt) {
  EXPECT_EQ(MemoryTimelineJson(TwoMoments()), "[[5, 7], [[0, 40, 0], [0, 40, 60]]]");
  EXPECT_EQ(MemoryChangesJson(TwoMoments()),
            "[[-1, 1, 40, 0], [7000, 2, 60, 1], [9000, 4, -60, 1]]");
}

TEST(MemoryTimeline, ThePageDrawsOneAboveTheOther) {
  const std::string page = MemoryTimelineHtml(TwoMoments());
  // Of 420 lines from the top: 40 of 100 bytes begin at 252.
  EXPECT_THAT(page, HasSubstr("d=\"M0.0,252.0L1000.0,252.0L1000.0,420.0L0.0,420.0Z\""));
  EXPECT_THAT(page, HasSubstr("d=\"M0.0,252.0L1000.0,0.0L1000.0,252.0L0.0,252.0Z\""));
  EXPECT_THAT(page, HasSubstr("at most 100 B"));
}

TEST(MemoryTimeline, OfNothingIsAPageAllTheSame) {
  EXPECT_THAT(MemoryTimelineHtml({}), HasSubstr("</html>"));
  EXPECT_EQ(MemoryTimelineJson({}), "[[], []]");
}

}  // namespace
}  // namespace steelyard::render
