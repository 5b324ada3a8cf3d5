// SPDX-License-Identifier: Apache-2.0
#include "memory/caching/steps.h"

#include <utility>
#include <vector>

namespace steelyard {
namespace {

constexpr BlockId kNoBlock = 0xffffffffu;

class Runner {
 public:
  Runner(const AllocatorSettings& settings, const DeviceMemory& device)
      : allocator_(settings, device) {}

  bool Place(std::span<const std::int64_t> residents) {
    for (const std::int64_t bytes : residents) {
      if (bytes > 0 && !allocator_.Allocate(bytes)) return false;
    }
    return true;
  }

  // Runs one step; tells at which event it fails.
  std::optional<std::size_t> Run(const Timeline& timeline) {
    allocator_.ResetPeaks();
    blocks_.assign(timeline.blocks.size(), kNoBlock);
    const std::size_t begin = timeline.repeat.first;
    const std::size_t end = begin + timeline.repeat.count;
    const std::size_t count = timeline.events.size();
    if (auto failed = RunEvents(timeline, 0, begin)) return failed;
    for (std::int64_t i = 0; i < timeline.repeat.times && end > begin; ++i) {
      if (auto failed = RunEvents(timeline, begin, end)) return failed;
    }
    return RunEvents(timeline, end, count);
  }

  const CachingAllocator& allocator() const { return allocator_; }

 private:
  std::optional<std::size_t> RunEvents(const Timeline& timeline, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const Event& event = timeline.events[i];
      BlockId& block = blocks_[event.block];
      if (event.bytes < 0) {
        // What was there before the step is its caller's.
        if (block != kNoBlock) allocator_.Free(std::exchange(block, kNoBlock));
        continue;
      }
      const std::optional<BlockId> made = allocator_.Allocate(event.bytes);
      if (!made) return i;
      block = *made;
    }
    return std::nullopt;
  }

  CachingAllocator allocator_;
  std::vector<BlockId> blocks_;  // by block of the step's timeline
};

}  // namespace

ReservedUse RunSteps(std::span<const std::int64_t> residents,
                     std::span<const Timeline* const> steps, const AllocatorSettings& settings,
                     const DeviceMemory& device) {
  ReservedUse use;
  Runner runner(settings, device);
  if (!runner.Place(residents)) {
    use.out_of_memory = runner.allocator().out_of_memory();
    return use;
  }
  for (use.step = 0; use.step < steps.size(); ++use.step) {
    const std::optional<std::size_t> failed = runner.Run(*steps[use.step]);
    if (!failed) continue;
    use.event = *failed;
    use.out_of_memory = runner.allocator().out_of_memory();
    return use;
  }
  const AllocatorStatistics& statistics = runner.allocator().statistics();
  use.requested = statistics.requested_bytes.all.peak;
  use.allocated = statistics.allocated_bytes.all.peak;
  use.reserved = statistics.reserved_bytes.all.peak;
  use.segments = statistics.segment.all.peak;
  use.inactive = statistics.inactive_split_bytes.all.current;
  use.retries = statistics.num_alloc_retries;
  return use;
}

}  // namespace steelyard
