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

// Gives blocks in whole pages, to have an allocator that wastes, of a device that may be full.
class Paged final : public Allocator {
 public:
  explicit Paged(std::int64_t room = 1 << 30) : room_(room) {}
  void Begin(std::int64_t resident) override { exact_->Begin(resident); }
  void Keep(std::uint32_t block, std::int64_t bytes) override { exact_->Keep(block, bytes); }
  bool Allocate(std::uint32_t block, std::int64_t bytes, std::uint32_t stream) override {
    return exact_->Allocate(block, (bytes + 511) / 512 * 512, stream) && now().allocated <= room_;
  }
  void Free(std::uint32_t block) override { exact_->Free(block); }
  MemoryLevels now() const override { return exact_->now(); }
  bool Settled() override { return --unsettled < 0; }
  MemoryLevels Finish() override { return exact_->Finish(); }
  int unsettled = 0;

 private:
  std::unique_ptr<Allocator> exact_ = MakeExactAllocator();
  std::int64_t room_;
};

TEST(Replay, ExactReachesTheBound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const MemoryUse use = Replay(RandomTimeline(seed), *MakeExactAllocator());
    EXPECT_EQ(use.peak, use.bound);
    EXPECT_EQ(use.reserved, use.bound);
  }
}

TEST(Replay, NoAllocatorGoesBelowTheBound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Paged paged;
    const MemoryUse use = Replay(RandomTimeline(seed), paged);
    EXPECT_GE(use.reserved, use.bound);
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

TEST(Replay, TellsWhatIsTakenAfterEachEvent) {
  Timeline timeline;
  Of(timeline.resident, Category::kInputs) = 7;
  timeline.blocks = {{.bytes = 60}, {.bytes = 45}};
  timeline.events = {{60, 0}, {45, 1}, {-60, 0}};
  std::vector<MemoryLevels> levels;
  EXPECT_EQ(Replay(timeline, *MakeExactAllocator(), &levels).events, 3u);
  std::vector<std::int64_t> allocated;
  for (const MemoryLevels& level : levels) allocated.push_back(level.allocated);
  EXPECT_EQ(allocated, (std::vector<std::int64_t>{7, 7 + 60, 7 + 60 + 45, 7 + 45}));
}

TEST(Replay, EndsWhereThereIsNoRoom) {
  Timeline timeline;
  timeline.blocks = {{.bytes = 512}, {.bytes = 600}, {.bytes = 1}};
  timeline.events = {{512, 0}, {600, 1}, {1, 2}};
  Paged paged(1024);
  EXPECT_EQ(Replay(timeline, paged).events, 1u);
}

TEST(Replay, RepeatsUntilNothingChanges) {
  Timeline timeline;
  timeline.blocks = {{.bytes = 10}, {.bytes = 20}};
  timeline.events = {{10, 0}, {20, 1}, {-20, 1}, {-10, 0}};
  timeline.repeat = {.first = 1, .count = 2, .times = 100};
  Paged paged;
  paged.unsettled = 4;  // at the end of the first time and of three more
  std::vector<MemoryLevels> levels;
  EXPECT_EQ(Replay(timeline, paged, &levels).events, 4u);
  EXPECT_EQ(paged.unsettled, -1);
  EXPECT_EQ(levels.size(), 1 + 4u);
}

TEST(Replay, CountsResidentBytes) {
  Timeline timeline;
  Of(timeline.resident, Category::kBuffers) = 7;
  EXPECT_EQ(Replay(timeline, *MakeExactAllocator()).peak, 7);
}

}  // namespace
}  // namespace steelyard
