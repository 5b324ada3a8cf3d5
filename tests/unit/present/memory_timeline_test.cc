// SPDX-License-Identifier: Apache-2.0
#include "present/memory_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::present {
namespace {

using testing::ElementsAre;

// A tick is a microsecond, and the record began at 100.
Recording ClockOfRecord() {
  Recording clock;
  clock.seconds_per_tick = 1e-6;
  clock.first_tick = 100;
  clock.unix_nanoseconds = 5'000'000;
  return clock;
}

TEST(PresentMemory, SizesAreSummedByWhatPyTorchCallsThem) {
  const report::MemoryTimeline timeline =
      PresentMemory({{.tick = 0, .bytes = 40, .category = Category::kParameters},
                     {.tick = 0, .bytes = 2, .category = Category::kBuffers},
                     {.tick = 110, .bytes = 16, .category = Category::kActivations},
                     {.tick = 120, .bytes = 8, .category = Category::kGradients},
                     {.tick = 120, .bytes = -16, .category = Category::kActivations}},
                    ClockOfRecord());
  EXPECT_THAT(timeline.all.times, ElementsAre(5000, 5010, 5020));
  EXPECT_THAT(timeline.all.sizes, ElementsAre(42, 0, 0, 0, 0, 0, 0, 0,   //
                                              42, 0, 0, 0, 16, 0, 0, 0,  //
                                              42, 0, 0, 0, 0, 8, 0, 0));
  EXPECT_EQ(timeline.peak, 42 + 16);
  EXPECT_EQ(timeline.changes[0].at, -1);
  EXPECT_EQ(timeline.changes[2].at, 5'010'000);
}

TEST(PresentMemory, APictureHasTheHighestOfManyMoments) {
  std::vector<MemoryMoment> history;
  for (std::uint64_t tick = 100; tick < 100'000; tick += 2) {
    const std::int64_t bytes = tick == 50'000 ? 1000 : 10;
    history.push_back({.tick = tick, .bytes = bytes, .category = Category::kTemporaries});
    history.push_back({.tick = tick + 1, .bytes = -bytes, .category = Category::kTemporaries});
  }
  const report::MemoryTimeline timeline = PresentMemory(history, ClockOfRecord());
  EXPECT_LE(timeline.drawn.times.size(), 1001u);
  EXPECT_EQ(*std::ranges::max_element(timeline.drawn.sizes), 1000);
  EXPECT_EQ(timeline.peak, 1000);
}

TEST(PresentMemory, OfNothingIsNothing) {
  EXPECT_TRUE(PresentMemory({}, ClockOfRecord()).drawn.times.empty());
}

}  // namespace
}  // namespace steelyard::present
