// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/timeline_allocator.h"

#include <gtest/gtest.h>

#include <optional>

namespace steelyard {
namespace {

// Two blocks of a large segment, of which the second is kept.
Timeline Step() {
  Timeline timeline;
  timeline.blocks = {{.bytes = 5 * kMiB - 12}, {.bytes = 5 * kMiB}};
  timeline.events = {{5 * kMiB - 12, 0}, {5 * kMiB, 1}, {-(5 * kMiB - 12), 0}};
  return timeline;
}

TEST(TimelineAllocator, TellsThePeaksOfEachReplay) {
  CachingAllocator device({}, DeviceMemory(80 * kGiB));
  ASSERT_TRUE(device.Allocate(100));  // resident
  for (std::int64_t before = 0; before < 2; ++before) {
    TimelineAllocator allocator(&device);
    const MemoryUse use = Replay(Step(), allocator);
    EXPECT_EQ(use.requested, 100 + before * 5 * kMiB + 10 * kMiB - 12);
    EXPECT_EQ(use.peak, 512 + before * 5 * kMiB + 10 * kMiB);
    EXPECT_EQ(use.reserved, (2 + 20) * kMiB);
    EXPECT_EQ(use.segments, 2);
    EXPECT_EQ(use.bound, 10 * kMiB - 12);  // of the timeline, which has nothing resident
    EXPECT_EQ(use.events, 3u);
  }
}

TEST(TimelineAllocator, FreesWhatItAdopted) {
  CachingAllocator device({}, DeviceMemory(80 * kGiB));
  const BlockId cache = device.Allocate(30 * kMiB).value();
  Timeline timeline;
  Of(timeline.resident, Category::kCache) = 30 * kMiB;
  timeline.blocks = {{.bytes = 30 * kMiB, .resident = true}, {.bytes = 30 * kMiB}};
  timeline.events = {{-30 * kMiB, 0}, {30 * kMiB, 1}};
  TimelineAllocator allocator(&device);
  allocator.Adopt(0, cache);
  const MemoryUse use = Replay(timeline, allocator);
  EXPECT_EQ(use.reserved, 30 * kMiB);  // in its place
  EXPECT_EQ(use.bound, use.reserved);
}

TEST(TimelineAllocator, FreeSegmentsGoBackWhereTheTimelineSaysSo) {
  CachingAllocator device({}, DeviceMemory(80 * kGiB));
  Timeline timeline;
  timeline.blocks = {{.bytes = 30 * kMiB}, {.bytes = 100}};
  timeline.events = {{30 * kMiB, 0}, {100, 1}, {-30 * kMiB, 0}};
  timeline.emptied = {3};  // behind the last one
  TimelineAllocator allocator(&device);
  EXPECT_EQ(Replay(timeline, allocator).reserved, (30 + 2) * kMiB);
  EXPECT_EQ(allocator.now().reserved, 2 * kMiB);
}

TEST(TimelineAllocator, EndsWhereTheDeviceIsFull) {
  CachingAllocator device({}, DeviceMemory(30 * kMiB));
  ASSERT_TRUE(device.Allocate(20 * kMiB));
  TimelineAllocator allocator(&device);
  EXPECT_EQ(Replay(Step(), allocator).events, 0u);
  EXPECT_EQ(device.out_of_memory().free, 10 * kMiB);
}

TEST(TimelineAllocator, IsSettledOnceBlocksLieAsBefore) {
  CachingAllocator device({}, DeviceMemory(80 * kGiB));
  TimelineAllocator allocator(&device);
  EXPECT_FALSE(allocator.Settled());
  EXPECT_TRUE(allocator.Settled());
  ASSERT_TRUE(allocator.Allocate(0, 100, 0));
  EXPECT_FALSE(allocator.Settled());
  allocator.Free(0);
  EXPECT_FALSE(allocator.Settled());
  ASSERT_TRUE(allocator.Allocate(0, 100, 0));
  allocator.Free(0);
  EXPECT_TRUE(allocator.Settled());
}

}  // namespace
}  // namespace steelyard
