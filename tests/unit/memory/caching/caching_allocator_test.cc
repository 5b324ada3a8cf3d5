// SPDX-License-Identifier: Apache-2.0
//
// Each rule by itself, with numbers that follow from it. That all of them together are PyTorch's,
// tests/oracle/test_caching.py shows.

#include "memory/caching/caching_allocator.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "allocators.h"

namespace steelyard {
namespace {

TEST(CachingAllocator, SmallBlocksShareSegmentsOfTwoMebibytes) {
  CachingAllocator allocator = With("");
  const BlockId a = allocator.Allocate(100).value();
  const BlockId b = allocator.Allocate(kMiB).value();
  EXPECT_EQ(allocator.SizeOf(a), 512);
  EXPECT_EQ(allocator.AddressOf(b), allocator.AddressOf(a) + 512);
  EXPECT_EQ(Reserved(allocator), 2 * kMiB);
  EXPECT_TRUE(allocator.Allocate(kMiB));  // 512 bytes are missing
  EXPECT_EQ(Reserved(allocator), 2 * 2 * kMiB);
  const AllocatorStatistics& s = allocator.statistics();
  EXPECT_EQ(s.requested_bytes.small_pool.current, 100 + 2 * kMiB);
  EXPECT_EQ(s.allocated_bytes.small_pool.current, 512 + 2 * kMiB);
  EXPECT_EQ(s.inactive_split_bytes.all.current, 4 * kMiB - (512 + 2 * kMiB));
  EXPECT_EQ(s.segment.small_pool.current, 2);
  EXPECT_EQ(s.segment.large_pool.current, 0);
}

TEST(CachingAllocator, ALargeBlockKeepsATailOfUpToOneMebibyte) {
  CachingAllocator allocator = With("");
  const BlockId whole = allocator.Allocate(11 * kMiB).value();  // of a segment of 12 MiB
  EXPECT_EQ(allocator.SizeOf(whole), 12 * kMiB);
  const BlockId cut = allocator.Allocate(11 * kMiB - 512).value();
  EXPECT_EQ(allocator.SizeOf(cut), 11 * kMiB - 512);
  EXPECT_EQ(allocator.statistics().inactive_split_bytes.all.current, kMiB + 512);
}

TEST(CachingAllocator, TakesTheSmallestBlockThatIsLargeEnough) {
  CachingAllocator allocator = With("");
  const BlockId large = allocator.Allocate(40 * kMiB).value();
  const BlockId middle = allocator.Allocate(30 * kMiB).value();
  const std::int64_t address = allocator.AddressOf(middle);
  allocator.Free(large);
  allocator.Free(middle);
  EXPECT_EQ(allocator.AddressOf(allocator.Allocate(25 * kMiB).value()), address);
  EXPECT_EQ(Reserved(allocator), (40 + 30) * kMiB);
}

TEST(CachingAllocator, OfEqualBlocksTakesTheOldestSegmentOrTheLowestAddress) {
  for (const auto& [minor, expected] : {std::pair{15, 20 * kMiB}, std::pair{9, 0 * kMiB}}) {
    CachingAllocator allocator(AllocatorSettingsOfTorch(2, minor), DeviceMemory(80 * kGiB));
    const BlockId first = allocator.Allocate(20 * kMiB).value();
    const BlockId second = allocator.Allocate(20 * kMiB).value();
    allocator.Free(first);
    allocator.EmptyCache();
    const BlockId third = allocator.Allocate(20 * kMiB).value();  // where the first one was
    ASSERT_EQ(allocator.AddressOf(third), 0);
    allocator.Free(second);
    allocator.Free(third);
    EXPECT_EQ(allocator.AddressOf(allocator.Allocate(20 * kMiB).value()), expected);
  }
}

TEST(CachingAllocator, FreeNeighboursBecomeOne) {
  CachingAllocator allocator = With("");
  std::vector<BlockId> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(allocator.Allocate(5 * kMiB).value());
  EXPECT_EQ(Reserved(allocator), 20 * kMiB);
  for (const int i : {0, 2, 1, 3}) allocator.Free(blocks[static_cast<std::size_t>(i)]);
  EXPECT_EQ(allocator.statistics().inactive_split.all.current, 0);
  EXPECT_EQ(allocator.statistics().inactive_split.all.peak, 2);  // the first and the third
  EXPECT_EQ(allocator.SizeOf(allocator.Allocate(20 * kMiB).value()), 20 * kMiB);
  EXPECT_EQ(Reserved(allocator), 20 * kMiB);
}

TEST(CachingAllocator, OtherStreamsDoNotGetABlock) {
  CachingAllocator allocator = With("");
  allocator.Free(allocator.Allocate(20 * kMiB, 1).value());
  EXPECT_TRUE(allocator.Allocate(20 * kMiB, 2));
  EXPECT_EQ(Reserved(allocator), 40 * kMiB);
  EXPECT_TRUE(allocator.Allocate(20 * kMiB, 1));
  EXPECT_EQ(Reserved(allocator), 40 * kMiB);
}

TEST(CachingAllocator, TheFractionLimitsWhatIsReserved) {
  CachingAllocator allocator = With("per_process_memory_fraction:0.5", 100 * kMiB);
  EXPECT_TRUE(allocator.Allocate(30 * kMiB));
  EXPECT_FALSE(allocator.Allocate(21 * kMiB));  // 30 + 22 are more than 50
  EXPECT_EQ(allocator.out_of_memory().allowed, 50 * kMiB);
  EXPECT_TRUE(allocator.Allocate(20 * kMiB));
}

TEST(CachingAllocator, OversizeBlocksStayWhole) {
  CachingAllocator allocator = With("max_split_size_mb:100");
  const BlockId oversize = allocator.Allocate(200 * kMiB).value();
  EXPECT_EQ(allocator.statistics().oversize_segments.current, 1);
  allocator.Free(oversize);
  EXPECT_TRUE(allocator.Allocate(50 * kMiB));  // not of that one
  EXPECT_EQ(Reserved(allocator), 250 * kMiB);
  EXPECT_TRUE(allocator.Allocate(180 * kMiB));  // 20 MiB too large
  EXPECT_EQ(Reserved(allocator), 430 * kMiB);
  const BlockId rounded = allocator.Allocate(181 * kMiB).value();
  EXPECT_EQ(allocator.SizeOf(rounded), 200 * kMiB);
  EXPECT_EQ(Reserved(allocator), 430 * kMiB);
}

TEST(CachingAllocator, RefusesEarlyWhereItIsTold) {
  CachingAllocator allocator = With("throw_on_cudamalloc_oom:True", 100 * kMiB);
  const BlockId block = allocator.Allocate(60 * kMiB).value();
  allocator.Free(block);
  EXPECT_FALSE(allocator.Allocate(70 * kMiB));  // which would fit in its place
  EXPECT_TRUE(allocator.out_of_memory().refused);
  EXPECT_EQ(allocator.statistics().num_ooms, 0);
  EXPECT_EQ(allocator.statistics().num_oom_rejections, 1);
  EXPECT_EQ(Reserved(allocator), 60 * kMiB);
}

TEST(CachingAllocator, APrivatePoolHasItsOwnSegments) {
  CachingAllocator allocator = With("", 100 * kMiB);
  const PoolId pool = allocator.CreatePool();
  allocator.BeginPool(pool, PoolUse::kScope);
  allocator.Free(allocator.Allocate(60 * kMiB).value());
  allocator.EndPool(pool);
  EXPECT_FALSE(allocator.Allocate(60 * kMiB));
  EXPECT_EQ(allocator.out_of_memory().in_private_pools, 60 * kMiB);
  EXPECT_EQ(Reserved(allocator), 60 * kMiB);
  allocator.ReleasePool(pool);
  EXPECT_TRUE(allocator.Allocate(60 * kMiB));
  EXPECT_EQ(Reserved(allocator), 60 * kMiB);
}

TEST(CachingAllocator, ASparePoolHelpsOut) {
  CachingAllocator allocator = With("", 100 * kMiB);
  const PoolId pool = allocator.CreatePool({.use_on_oom = true, .no_split = true});
  allocator.BeginPool(pool, PoolUse::kScope);
  allocator.Free(allocator.Allocate(60 * kMiB).value());
  allocator.EndPool(pool);
  const BlockId block = allocator.Allocate(50 * kMiB).value();
  EXPECT_EQ(allocator.SizeOf(block), 60 * kMiB);
  EXPECT_EQ(allocator.statistics().num_alloc_retries, 0);
}

}  // namespace
}  // namespace steelyard
