// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "memory/allocator.h"

namespace steelyard {
namespace {

// Blocks of random sizes that live for random times.
Timeline RandomTimeline(unsigned seed) {
  std::mt19937 random(seed);
  Timeline timeline;
  Of(timeline.resident, Category::kParameters) = 1000;
  std::vector<std::uint32_t> live;
  for (int i = 0; i < 200; ++i) {
    if (!live.empty() && random() % 2 == 0) {
      const std::size_t at = random() % live.size();
      timeline.events.push_back({-timeline.blocks[live[at]].bytes, live[at]});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const auto block = static_cast<std::uint32_t>(timeline.blocks.size());
    timeline.blocks.push_back({static_cast<std::int64_t>(random() % 1000 + 1)});
    timeline.events.push_back({timeline.blocks[block].bytes, block});
    live.push_back(block);
  }
  return timeline;
}

// Gives blocks in whole pages, to have an allocator that wastes.
class Paged final : public Allocator {
 public:
  void Allocate(std::uint32_t block, std::int64_t bytes) override {
    exact_->Allocate(block, (bytes + 511) / 512 * 512);
  }
  void Free(std::uint32_t block) override { exact_->Free(block); }
  std::int64_t Finish() override { return exact_->Finish(); }

 private:
  std::unique_ptr<Allocator> exact_ = MakeExactAllocator();
};

TEST(Replay, ExactReachesTheBound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const MemoryUse use = Replay(RandomTimeline(seed), *MakeExactAllocator());
    EXPECT_EQ(use.peak, use.bound);
    EXPECT_EQ(use.fragmentation(), 0);
  }
}

TEST(Replay, NoAllocatorGoesBelowTheBound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Paged paged;
    EXPECT_GE(Replay(RandomTimeline(seed), paged).fragmentation(), 0);
  }
}

TEST(Replay, WhatWasThereBeforeMayBeFreed) {
  Timeline timeline;
  Of(timeline.resident, Category::kParameters) = 1000;
  Of(timeline.resident, Category::kCache) = 50;
  timeline.blocks = {{.bytes = 50, .resident = true}, {.bytes = 60}, {.bytes = 45}};
  timeline.events = {{60, 1}, {-50, 0}, {45, 2}};
  const MemoryUse use = Replay(timeline, *MakeExactAllocator());
  EXPECT_EQ(use.peak, 1000 + 50 + 60);
  EXPECT_EQ(use.bound, 1000 + 50 + 60);
}

TEST(Replay, CountsResidentBytes) {
  Timeline timeline;
  Of(timeline.resident, Category::kBuffers) = 7;
  EXPECT_EQ(Replay(timeline, *MakeExactAllocator()).peak, 7);
}

}  // namespace
}  // namespace steelyard
