// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/segment_map.h"

#include <gtest/gtest.h>

#include "memory/caching/caching_allocator.h"

namespace steelyard {
namespace {

TEST(SegmentMap, ShowsSegmentsAndTheirBlocks) {
  CachingAllocator allocator({}, DeviceMemory::Unlimited(), StreamProgress::kWhenSynchronized);
  ASSERT_TRUE(allocator.Allocate(5 * kMiB - 12));
  const BlockId used = allocator.Allocate(6 * kMiB).value();
  ASSERT_TRUE(allocator.Allocate(100, 1));
  allocator.RecordStream(used, 1);
  allocator.Free(used);

  const SegmentMap map = allocator.Map();
  ASSERT_EQ(map.size(), 2);
  const MappedSegment expected{
      .address = 0,
      .size = 20 * kMiB,
      .allocated = 5 * kMiB,
      .active = 11 * kMiB,
      .requested = 11 * kMiB - 12,
      .blocks = {{.offset = 0,
                  .size = 5 * kMiB,
                  .requested = 5 * kMiB - 12,
                  .state = BlockState::kAllocated},
                 {.offset = 5 * kMiB,
                  .size = 6 * kMiB,
                  .requested = 6 * kMiB,
                  .state = BlockState::kAwaitsFree},
                 {.offset = 11 * kMiB, .size = 9 * kMiB, .state = BlockState::kFree}}};
  EXPECT_EQ(map[0], expected);
  EXPECT_EQ(map[1].address, 20 * kMiB);
  EXPECT_EQ(map[1].stream, 1u);
  EXPECT_TRUE(map[1].is_small);
}

TEST(SegmentMap, ShowsWhatHasMemoryOfAnExpandableSegment) {
  CachingAllocator allocator(ParseAllocatorSettings("expandable_segments:True").value(),
                             DeviceMemory(80 * kGiB));
  const BlockId first = allocator.Allocate(60 * kMiB).value();
  ASSERT_TRUE(allocator.Allocate(5 * kMiB));
  EXPECT_EQ(allocator.Map().size(), 1);
  allocator.Free(first);
  allocator.EmptyCache();
  const SegmentMap map = allocator.Map();
  ASSERT_EQ(map.size(), 1);
  EXPECT_EQ(map[0].address, 60 * kMiB);
  EXPECT_EQ(map[0].size, 20 * kMiB);
  EXPECT_TRUE(map[0].is_expandable);
}

TEST(BlockState, HasTheNameOfPyTorchsSnapshots) {
  EXPECT_EQ(NameOf(BlockState::kAllocated), "active_allocated");
  EXPECT_EQ(NameOf(BlockState::kAwaitsFree), "active_awaiting_free");
  EXPECT_EQ(NameOf(BlockState::kFree), "inactive");
}

}  // namespace
}  // namespace steelyard
