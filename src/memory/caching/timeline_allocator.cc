// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/timeline_allocator.h"

#include <cstddef>
#include <utility>

namespace steelyard {

BlockId& TimelineAllocator::At(std::uint32_t block) {
  if (ids_.size() <= block) ids_.resize(std::size_t{block} + 1, kAbsent);
  return ids_[block];
}

void TimelineAllocator::Adopt(std::uint32_t block, BlockId id) { At(block) = id; }

std::optional<BlockId> TimelineAllocator::Left(std::uint32_t block) const {
  if (block >= ids_.size() || ids_[block] == kAbsent) return std::nullopt;
  return ids_[block];
}

void TimelineAllocator::Begin(std::int64_t) { device_.ResetPeaks(); }

bool TimelineAllocator::Allocate(std::uint32_t block, std::int64_t bytes, std::uint32_t stream) {
  const std::optional<BlockId> id = device_.Allocate(bytes, stream);
  if (id) At(block) = *id;
  return id.has_value();
}

void TimelineAllocator::Free(std::uint32_t block) {
  if (const BlockId id = std::exchange(At(block), kAbsent); id != kAbsent) device_.Free(id);
}

MemoryLevels TimelineAllocator::now() const {
  const AllocatorStatistics& s = device_.statistics();
  return {.requested = s.requested_bytes.all.current,
          .allocated = s.allocated_bytes.all.current,
          .reserved = s.reserved_bytes.all.current,
          .segments = s.segment.all.current,
          .active = s.active_bytes.all.current,
          .inactive = s.inactive_split_bytes.all.current};
}

// A segment that was given back and taken again is younger than it was, and blocks that are
// collected by their age are older each time.
bool TimelineAllocator::Settled() {
  const std::int64_t freed = device_.statistics().num_device_free;
  SegmentMap map = device_.Map();
  const bool settled = !device_.collects_garbage() && freed == last_freed_ && map == last_map_;
  last_map_ = std::move(map);
  last_freed_ = freed;
  return settled;
}

MemoryLevels TimelineAllocator::Finish() {
  const AllocatorStatistics& s = device_.statistics();
  return {.requested = s.requested_bytes.all.peak,
          .allocated = s.allocated_bytes.all.peak,
          .reserved = s.reserved_bytes.all.peak,
          .segments = s.segment.all.peak,
          .active = s.active_bytes.all.peak,
          .inactive = s.inactive_split_bytes.all.peak};
}

}  // namespace steelyard
