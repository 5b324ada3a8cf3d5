// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/segment_map.h"

#include <algorithm>
#include <utility>

#include "memory/caching/caching_allocator.h"
#include "support/assert.h"

namespace steelyard {

std::string_view NameOf(BlockState state) {
  switch (state) {
    case BlockState::kAllocated:
      return "active_allocated";
    case BlockState::kAwaitsFree:
      return "active_awaiting_free";
    case BlockState::kFree:
      return "inactive";
  }
  SY_UNREACHABLE("a state that is not in the list");
}

SegmentMap CachingAllocator::Map() const {
  SegmentMap map;
  for (const Block& head : blocks_) {
    if (!head.exists || !head.mapped) continue;
    if (head.prev != kNone && blocks_[head.prev].mapped) continue;
    const Pool& pool = pools_[head.pool];
    MappedSegment segment{.address = head.address,
                          .stream = head.stream,
                          .pool = pool.owner,
                          .is_small = pool.is_small,
                          .is_expandable = head.expandable != kNone,
                          .blocks = {}};
    for (const Block* block = &head; block->mapped;) {
      const bool active = !IsIdle(*block);
      segment.blocks.push_back({.offset = segment.size,
                                .size = block->size,
                                .requested = block->requested,
                                .state = block->allocated ? BlockState::kAllocated
                                         : active         ? BlockState::kAwaitsFree
                                                          : BlockState::kFree});
      segment.size += block->size;
      if (block->allocated) segment.allocated += block->size;
      if (active) segment.active += block->size;
      segment.requested += block->requested;
      if (block->next == kNone) break;
      block = &blocks_[block->next];
    }
    map.push_back(std::move(segment));
  }
  std::ranges::sort(map, {}, &MappedSegment::address);
  return map;
}

}  // namespace steelyard
