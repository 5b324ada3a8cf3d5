// SPDX-License-Identifier: Apache-2.0
#include "memory/caching/steps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "memory/allocator.h"
#include "memory/caching/timeline_allocator.h"

namespace steelyard {
namespace {

// Allocates them, and says to the first step which are its own.
bool Place(std::span<const ResidentBlock> residents, CachingAllocator* device,
           TimelineAllocator* first) {
  for (const ResidentBlock& resident : residents) {
    if (resident.bytes <= 0) continue;
    const std::optional<BlockId> id = device->Allocate(resident.bytes);
    if (!id) return false;
    if (resident.block != ResidentBlock::kKept) first->Adopt(resident.block, *id);
  }
  return true;
}

// What a step gives up of what is there before it, the step before has left: of blocks of one size
// the last that it made.
void AdoptLeft(const Timeline& before, const TimelineAllocator& left, const Timeline& next,
               TimelineAllocator* blocks) {
  std::vector<bool> taken(before.blocks.size(), false);
  for (std::size_t i = next.blocks.size(); i-- > 0;) {
    if (!next.blocks[i].resident) continue;
    for (std::size_t j = before.blocks.size(); j-- > 0;) {
      if (taken[j] || before.blocks[j].bytes != next.blocks[i].bytes) continue;
      const std::optional<BlockId> id = left.Left(static_cast<std::uint32_t>(j));
      if (!id) continue;
      taken[j] = true;
      blocks->Adopt(static_cast<std::uint32_t>(i), *id);
      break;
    }
  }
}

}  // namespace

ReservedUse RunSteps(std::span<const ResidentBlock> residents,
                     std::span<const Timeline* const> steps, const AllocatorSettings& settings,
                     const DeviceMemory& device) {
  ReservedUse use;
  CachingAllocator allocator(settings, device);
  std::optional<TimelineAllocator> blocks(&allocator);
  if (!Place(residents, &allocator, &*blocks)) {
    use.out_of_memory = allocator.out_of_memory();
    return use;
  }
  for (use.step = 0; use.step < steps.size(); ++use.step) {
    const Timeline& step = *steps[use.step];
    if (use.step > 0) {
      const TimelineAllocator before = std::move(*blocks);
      blocks.emplace(&allocator);
      AdoptLeft(*steps[use.step - 1], before, step, &*blocks);
    }
    const std::size_t ran = Replay(step, *blocks).events;
    if (ran == step.events.size()) continue;
    use.event = ran;
    use.out_of_memory = allocator.out_of_memory();
    return use;
  }
  const AllocatorStatistics& statistics = allocator.statistics();
  use.requested = statistics.requested_bytes.all.peak;
  use.allocated = statistics.allocated_bytes.all.peak;
  use.reserved = statistics.reserved_bytes.all.peak;
  use.segments = statistics.segment.all.peak;
  use.inactive = statistics.inactive_split_bytes.all.current;
  use.retries = statistics.num_alloc_retries;
  return use;
}

}  // namespace steelyard
