// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "allocators.h"

namespace steelyard {
namespace {

TEST(Streams, ABlockThatAnotherStreamUsesStaysActive) {
  CachingAllocator allocator({}, DeviceMemory(80 * kGiB), StreamProgress::kWhenSynchronized);
  const BlockId block = allocator.Allocate(20 * kMiB).value();
  allocator.RecordStream(block, 1);
  allocator.Free(block);
  const AllocatorStatistics& s = allocator.statistics();
  EXPECT_EQ(s.allocated_bytes.all.current, 0);
  EXPECT_EQ(s.active_bytes.all.current, 20 * kMiB);
  allocator.Free(allocator.Allocate(20 * kMiB).value());
  EXPECT_EQ(Reserved(allocator), 40 * kMiB);
  allocator.Complete(1);
  EXPECT_EQ(s.active_bytes.all.current, 20 * kMiB);  // nobody has looked yet
  EXPECT_TRUE(allocator.Allocate(40 * kMiB));
  EXPECT_EQ(s.active_bytes.all.current, 40 * kMiB);
  EXPECT_EQ(Reserved(allocator), 80 * kMiB);
}

TEST(Streams, TheStreamOfABlockNeedsNoEvent) {
  CachingAllocator allocator({}, DeviceMemory(80 * kGiB), StreamProgress::kWhenSynchronized);
  const BlockId block = allocator.Allocate(20 * kMiB, 1).value();
  allocator.RecordStream(block, 1);
  allocator.Free(block);
  EXPECT_EQ(allocator.statistics().active_bytes.all.current, 0);
}

TEST(Streams, EveryStreamMustHavePassed) {
  CachingAllocator allocator({}, DeviceMemory(80 * kGiB), StreamProgress::kWhenSynchronized);
  const BlockId block = allocator.Allocate(20 * kMiB).value();
  for (const StreamId stream : {1u, 2u, 1u}) allocator.RecordStream(block, stream);
  allocator.Free(block);
  allocator.Complete(1);
  ASSERT_TRUE(allocator.Allocate(512));
  EXPECT_EQ(allocator.statistics().active_bytes.large_pool.current, 20 * kMiB);
  allocator.Complete(2);
  ASSERT_TRUE(allocator.Allocate(512));
  EXPECT_EQ(allocator.statistics().active_bytes.large_pool.current, 0);
}

TEST(Streams, ADeviceThatIsNeverBehindGivesTheBlockBackAtTheNextRequest) {
  CachingAllocator allocator({}, DeviceMemory(80 * kGiB));
  const BlockId block = allocator.Allocate(20 * kMiB).value();
  allocator.RecordStream(block, 1);
  allocator.Free(block);
  EXPECT_EQ(allocator.statistics().active_bytes.all.current, 20 * kMiB);
  ASSERT_TRUE(allocator.Allocate(20 * kMiB));
  EXPECT_EQ(Reserved(allocator), 20 * kMiB);
}

// What PyTorch 2.15 was seen to do, in MiB.
TEST(Streams, ACaptureLooksAtNoEventsAndGivesNothingBack) {
  CachingAllocator allocator({}, DeviceMemory(200 * kMiB));
  const AllocatorStatistics& s = allocator.statistics();
  const BlockId a = allocator.Allocate(20 * kMiB).value();
  allocator.RecordStream(a, 2);
  allocator.Free(allocator.Allocate(40 * kMiB).value());
  const PoolId pool = allocator.CreatePool();
  allocator.BeginPool(pool, PoolUse::kCapture, 1);
  allocator.Free(allocator.Allocate(30 * kMiB, 1).value());
  const BlockId y = allocator.Allocate(25 * kMiB, 1).value();
  EXPECT_EQ(Reserved(allocator), (20 + 40 + 30) * kMiB);
  EXPECT_TRUE(allocator.Allocate(20 * kMiB, 2));  // of the default pool
  EXPECT_EQ(Reserved(allocator), (90 + 20) * kMiB);
  allocator.Free(a);
  EXPECT_EQ(s.active_bytes.all.current, (20 + 25 + 20) * kMiB);
  EXPECT_FALSE(allocator.Allocate(100 * kMiB, 1));
  EXPECT_EQ(s.num_alloc_retries, 0);
  EXPECT_EQ(allocator.out_of_memory().in_private_pools, 5 * kMiB);
  EXPECT_EQ(s.active_bytes.all.current, 65 * kMiB);  // nobody has looked yet
  EXPECT_TRUE(allocator.Allocate(20 * kMiB));        // looks, and gets what was freed
  EXPECT_EQ(s.active_bytes.all.current, 65 * kMiB);
  EXPECT_EQ(Reserved(allocator), 110 * kMiB);
  allocator.EndPool(pool);
  allocator.Free(y);
  allocator.EmptyCache();
  EXPECT_EQ(Reserved(allocator), (110 - 40) * kMiB);
  allocator.ReleasePool(pool);
  allocator.EmptyCache();
  EXPECT_EQ(Reserved(allocator), (70 - 30) * kMiB);
}

}  // namespace
}  // namespace steelyard
