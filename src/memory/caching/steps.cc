// SPDX-License-Identifier: Apache-2.0
#include "memory/caching/steps.h"

#include <cstddef>
#include <optional>

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
    if (use.step > 0) blocks.emplace(&allocator);
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
