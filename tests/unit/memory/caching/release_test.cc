// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "allocators.h"

namespace steelyard {
namespace {

TEST(Release, EmptyCacheKeepsSegmentsThatAreInUse) {
  CachingAllocator allocator = With("");
  const BlockId a = allocator.Allocate(5 * kMiB).value();
  const BlockId b = allocator.Allocate(5 * kMiB).value();
  allocator.Free(allocator.Allocate(30 * kMiB).value());
  allocator.Free(a);
  allocator.EmptyCache();
  EXPECT_EQ(Reserved(allocator), 20 * kMiB);
  allocator.Free(b);
  allocator.EmptyCache();
  EXPECT_EQ(Reserved(allocator), 0);
  EXPECT_EQ(allocator.statistics().num_device_free, 2);
  EXPECT_EQ(allocator.statistics().num_sync_all_streams, 2);
}

TEST(Release, GivesBackWhatIsFreeBeforeItFails) {
  CachingAllocator allocator = With("", 100 * kMiB);
  const BlockId kept = allocator.Allocate(30 * kMiB).value();
  allocator.Free(allocator.Allocate(40 * kMiB).value());
  EXPECT_TRUE(allocator.Allocate(60 * kMiB));
  const AllocatorStatistics& s = allocator.statistics();
  EXPECT_EQ(s.num_alloc_retries, 1);
  EXPECT_EQ(Reserved(allocator), 90 * kMiB);
  EXPECT_FALSE(allocator.Allocate(11 * kMiB));
  EXPECT_EQ(s.num_alloc_retries, 2);
  EXPECT_EQ(s.num_ooms, 1);
  const OutOfMemory& e = allocator.out_of_memory();
  EXPECT_EQ(e.tried, 12 * kMiB);
  EXPECT_EQ(e.total, 100 * kMiB);
  EXPECT_EQ(e.free, 10 * kMiB);
  EXPECT_EQ(e.allocated, 90 * kMiB);
  EXPECT_EQ(e.unallocated, 0);
  EXPECT_FALSE(e.allowed);
  allocator.Free(kept);
}

TEST(Release, GivesBackJustEnoughOversizeBlocks) {
  CachingAllocator allocator = With("max_split_size_mb:100", 1000 * kMiB);
  std::vector<BlockId> blocks;
  for (const int size : {150, 200, 300, 350}) {
    blocks.push_back(allocator.Allocate(size * kMiB).value());
  }
  for (const BlockId block : blocks) allocator.Free(block);
  EXPECT_TRUE(allocator.Allocate(331 * kMiB));  // of the 350: less than 20 too large
  EXPECT_EQ(Reserved(allocator), (150 + 200 + 300 + 350) * kMiB);
  EXPECT_TRUE(allocator.Allocate(250 * kMiB));  // instead of the 300
  EXPECT_EQ(Reserved(allocator), (150 + 200 + 250 + 350) * kMiB);
  EXPECT_EQ(allocator.statistics().num_alloc_retries, 0);
  EXPECT_EQ(allocator.statistics().num_device_free, 1);
}

TEST(Release, CollectsGarbageThatIsOlderThanTheMean) {
  CachingAllocator allocator =
      With("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5", 1000 * kMiB);
  const BlockId old = allocator.Allocate(100 * kMiB).value();  // the 1st search
  const BlockId young = allocator.Allocate(120 * kMiB).value();
  allocator.Free(old);                          // born after 2
  EXPECT_TRUE(allocator.Allocate(130 * kMiB));  // 3rd search; 220 MiB are not above 250
  allocator.Free(young);                        // born after 3
  EXPECT_EQ(Reserved(allocator), 350 * kMiB);
  // The 4th search: their ages are 2 and 1, so that the older one goes; with 250 MiB left of the
  // 350 the threshold is reached.
  EXPECT_TRUE(allocator.Allocate(140 * kMiB));
  EXPECT_EQ(Reserved(allocator), (120 + 130 + 140) * kMiB);
  EXPECT_EQ(allocator.statistics().num_device_free, 1);
}

}  // namespace
}  // namespace steelyard
