// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string_view>

#include "allocators.h"

namespace steelyard {
namespace {

TEST(ExpandableSegments, GrowPageByPage) {
  CachingAllocator allocator = With("expandable_segments:True");
  const auto reserved_after = [&](std::int64_t bytes) {
    EXPECT_TRUE(allocator.Allocate(bytes));
    return Reserved(allocator);
  };
  EXPECT_EQ(reserved_after(3 * kMiB), 20 * kMiB);
  EXPECT_EQ(reserved_after(30 * kMiB), 40 * kMiB);  // 33
  EXPECT_EQ(reserved_after(8 * kMiB), 60 * kMiB);   // 41
  EXPECT_EQ(reserved_after(100), 62 * kMiB);        // the small pool's first page
  EXPECT_EQ(allocator.statistics().segment.all.current, 0);
  EXPECT_EQ(allocator.statistics().inactive_split.all.current, 0);
  EXPECT_EQ(allocator.statistics().num_device_alloc, 4);
}

TEST(ExpandableSegments, LargeBlocksHaveNoTail) {
  CachingAllocator allocator = With("expandable_segments:True");
  EXPECT_EQ(allocator.SizeOf(allocator.Allocate(11 * kMiB + 1).value()), 11 * kMiB + 512);
}

TEST(ExpandableSegments, EmptyCacheTakesWholePagesAndHolesAreFilledFirst) {
  CachingAllocator allocator = With("expandable_segments:True");
  const BlockId first = allocator.Allocate(50 * kMiB).value();
  const BlockId last = allocator.Allocate(20 * kMiB).value();
  EXPECT_EQ(Reserved(allocator), 80 * kMiB);
  allocator.Free(first);
  allocator.EmptyCache();  // two pages of the first, none of the rest: 50 to 60 is in use
  EXPECT_EQ(Reserved(allocator), 40 * kMiB);
  EXPECT_EQ(allocator.AddressOf(allocator.Allocate(45 * kMiB).value()), 0);
  EXPECT_EQ(Reserved(allocator), 80 * kMiB);
  allocator.Free(last);
}

TEST(ExpandableSegments, NoBlockIsLargerThanTheReserve) {
  CachingAllocator allocator =
      With("expandable_segments:True,expandable_segments_reserve:0.1", 1000 * kMiB);
  EXPECT_FALSE(allocator.Allocate(101 * kMiB));
  EXPECT_TRUE(allocator.Allocate(100 * kMiB));
  const std::int64_t second = allocator.AddressOf(allocator.Allocate(50 * kMiB).value());
  EXPECT_EQ(second, 100 * kMiB);  // another segment
}

}  // namespace
}  // namespace steelyard
