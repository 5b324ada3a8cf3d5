// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "memory/allocator.h"

namespace steelyard {
namespace {

TEST(ExactAllocator, PeakIsTheHighestSumOfLiveBlocks) {
  const auto allocator = MakeExactAllocator();
  allocator->Begin(7);
  EXPECT_TRUE(allocator->Allocate(0, 100, 0));
  EXPECT_TRUE(allocator->Allocate(1, 50, 0));
  allocator->Free(0);
  EXPECT_TRUE(allocator->Allocate(2, 70, 0));
  EXPECT_EQ(allocator->now().allocated, 7 + 50 + 70);
  EXPECT_EQ(allocator->Finish().allocated, 7 + 100 + 50);
}

TEST(ExactAllocator, TakesNothingForNothing) {
  const auto allocator = MakeExactAllocator();
  allocator->Begin(0);
  EXPECT_EQ(allocator->Finish(), MemoryLevels{});
}

}  // namespace
}  // namespace steelyard
