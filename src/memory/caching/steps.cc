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

// What the module or a graph that it holds keeps, and not what is trained.
bool IsKeptByModule(const Block& block) {
  return block.category == Category::kCache || block.category == Category::kActivations;
}

// The last block of that size which a step has left, of the same category if there is one; none
// that is taken.
std::optional<std::size_t> LastLeft(const Timeline& before, const TimelineAllocator& left,
                                    const std::vector<bool>& taken, const Block& like) {
  std::optional<std::size_t> other;
  for (std::size_t i = before.blocks.size(); i-- > 0;) {
    if (taken[i] || before.blocks[i].bytes != like.bytes) continue;
    if (!left.Left(static_cast<std::uint32_t>(i))) continue;
    if (before.blocks[i].category == like.category) return i;
    if (!other) other = i;
  }
  return other;
}

// What a step gives up of what is there before it, the step before has left. What else the module
// has kept it lets go before the step's first call.
void AdoptLeft(const Timeline& before, TimelineAllocator& left, const Timeline& next,
               TimelineAllocator* blocks) {
  std::vector<bool> taken(before.blocks.size(), false);
  for (std::size_t i = next.blocks.size(); i-- > 0;) {
    if (!next.blocks[i].resident) continue;
    const std::optional<std::size_t> found = LastLeft(before, left, taken, next.blocks[i]);
    if (!found) continue;
    taken[*found] = true;
    blocks->Adopt(static_cast<std::uint32_t>(i), *left.Left(static_cast<std::uint32_t>(*found)));
  }
  for (std::size_t i = 0; i < before.blocks.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    if (!taken[i] && IsKeptByModule(before.blocks[i]) && left.Left(block)) left.Free(block);
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
      TimelineAllocator before = std::move(*blocks);
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
