// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "memory/allocator.h"

namespace steelyard {

MemoryUse Replay(const Timeline& timeline, Allocator& allocator) {
  std::int64_t live = 0, bound = 0;
  for (const Event& event : timeline.events) {
    if (event.bytes > 0) {
      allocator.Allocate(event.block, event.bytes);
    } else {
      allocator.Free(event.block);
    }
    live += event.bytes;
    bound = std::max(bound, live);
  }
  const std::int64_t resident = timeline.resident_bytes();
  return {.peak = resident + allocator.Finish(), .bound = resident + bound};
}

}  // namespace steelyard
