// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "memory/allocator.h"

namespace steelyard {

MemoryUse Replay(const Timeline& timeline, Allocator& allocator) {
  std::int64_t live = 0;
  for (std::uint32_t block = 0; block < timeline.blocks.size(); ++block) {
    if (!timeline.blocks[block].resident) continue;
    allocator.Allocate(block, timeline.blocks[block].bytes);
    live += timeline.blocks[block].bytes;
  }
  const std::int64_t resident = timeline.resident_bytes() - live;
  std::int64_t bound = live;
  for (const Event& event : timeline.events) {
    if (event.bytes > 0) {
      allocator.Allocate(event.block, event.bytes);
    } else {
      allocator.Free(event.block);
    }
    live += event.bytes;
    bound = std::max(bound, live);
  }
  return {.peak = resident + allocator.Finish(), .bound = resident + bound};
}

}  // namespace steelyard
