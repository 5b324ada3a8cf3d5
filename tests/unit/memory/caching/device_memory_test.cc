// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/device_memory.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

constexpr std::int64_t kPage = DeviceMemory::kPage;

TEST(DeviceMemory, GivesTheLowestHoleThatIsLargeEnough) {
  DeviceMemory memory(100 * kPage);
  EXPECT_EQ(memory.Allocate(3 * kPage), 0);
  EXPECT_EQ(memory.Allocate(1), 3 * kPage);  // whole pages
  EXPECT_EQ(memory.Allocate(kPage), 4 * kPage);
  EXPECT_EQ(memory.free(), (100 - 3 - 1 - 1) * kPage);
  memory.Free(0);
  EXPECT_EQ(memory.Allocate(4 * kPage), 5 * kPage);
  memory.Free(3 * kPage);  // one hole of four pages now
  EXPECT_EQ(memory.Allocate(4 * kPage), 0);
}

TEST(DeviceMemory, EndsWhereTheDeviceDoes) {
  DeviceMemory memory(10 * kPage, 4 * kPage);
  EXPECT_EQ(memory.Allocate(7 * kPage), std::nullopt);
  EXPECT_EQ(memory.Allocate(6 * kPage), 0);
  EXPECT_EQ(memory.free(), 0);
}

TEST(DeviceMemory, ReservesAddressesWithoutMemory) {
  DeviceMemory memory(10 * kPage);
  EXPECT_EQ(memory.Reserve(1000 * kPage), 0);
  EXPECT_EQ(memory.free(), 10 * kPage);
  EXPECT_TRUE(memory.Commit(10 * kPage));
  EXPECT_FALSE(memory.Commit(kPage));
  memory.Uncommit(kPage);
  EXPECT_EQ(memory.Allocate(kPage), 1000 * kPage);
  memory.Unreserve(0);
  EXPECT_EQ(memory.Reserve(kPage), 0);
}

}  // namespace
}  // namespace steelyard
