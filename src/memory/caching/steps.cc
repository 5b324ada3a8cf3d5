// SPDX-License-Identifier: Apache-2.0
#include "memory/caching/steps.h"

#include <cstddef>

#include "memory/allocator.h"
#include "memory/caching/timeline_allocator.h"

namespace steelyard {
namespace {

bool Place(std::span<const std::int64_t> residents, CachingAllocator* device) {
  for (const std::int64_t bytes : residents) {
    if (bytes > 0 && !device->Allocate(bytes)) return false;
  }
  return true;
}

}  // namespace

ReservedUse RunSteps(std::span<const std::int64_t> residents,
                     std::span<const Timeline* const> steps, const AllocatorSettings& settings,
                     const DeviceMemory& device) {
  ReservedUse use;
  CachingAllocator allocator(settings, device);
  if (!Place(residents, &allocator)) {
    use.out_of_memory = allocator.out_of_memory();
    return use;
  }
  for (use.step = 0; use.step < steps.size(); ++use.step) {
    const Timeline& step = *steps[use.step];
    TimelineAllocator blocks(&allocator);
    const std::size_t ran = Replay(step, blocks).events;
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
