// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "memory/allocator.h"

namespace steelyard {
namespace {

TEST(ExactAllocator, PeakIsTheHighestSumOfLiveBlocks) {
  const auto allocator = MakeExactAllocator();
  allocator->Allocate(0, 100);
  allocator->Allocate(1, 50);
  allocator->Free(0);
  allocator->Allocate(2, 70);
  EXPECT_EQ(allocator->Finish(), 100 + 50);
}

TEST(ExactAllocator, TakesNothingForNothing) { EXPECT_EQ(MakeExactAllocator()->Finish(), 0); }

}  // namespace
}  // namespace steelyard
