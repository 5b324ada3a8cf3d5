// SPDX-License-Identifier: Apache-2.0
//
// Events that repeat run until the allocator has settled: then another time would change nothing.
#include <algorithm>

#include "memory/allocator.h"

namespace steelyard {
namespace {

class Run {
 public:
  Run(const Timeline& timeline, Allocator& allocator, std::vector<MemoryLevels>* levels)
      : timeline_(timeline), allocator_(allocator), levels_(levels) {}

  MemoryUse All() {
    Begin();
    Events();
    const MemoryLevels peaks = allocator_.Finish();
    return {.peak = peaks.allocated,
            .bound = bound_,
            .requested = peaks.requested,
            .reserved = peaks.reserved,
            .segments = peaks.segments,
            .events = events_};
  }

 private:
  void Begin() {
    std::int64_t blocks = 0;
    for (const Block& block : timeline_.blocks) {
      if (block.resident) blocks += block.bytes;
    }
    live_ = bound_ = timeline_.resident_bytes();
    allocator_.Begin(live_ - blocks);
    for (std::uint32_t block = 0; block < timeline_.blocks.size(); ++block) {
      if (!timeline_.blocks[block].resident) continue;
      allocator_.Keep(block, timeline_.blocks[block].bytes);
    }
    if (levels_ != nullptr) levels_->push_back(allocator_.now());
  }

  void Events() {
    const RepeatedEvents& repeat = timeline_.repeat;
    const std::size_t first = repeat.first;
    const std::size_t after = first + repeat.count;
    if (!Range(0, after)) return;
    if (repeat.times > 1) static_cast<void>(allocator_.Settled());
    for (std::int64_t time = 1; time < repeat.times; ++time) {
      if (!Range(first, after)) return;
      if (allocator_.Settled()) break;
    }
    if (Range(after, timeline_.events.size())) EmptyBefore(timeline_.events.size());
  }

  void EmptyBefore(std::size_t event) {
    const std::vector<std::uint32_t>& emptied = timeline_.emptied;
    for (; emptied_ < emptied.size() && emptied[emptied_] <= event; ++emptied_) {
      allocator_.EmptyCache();
    }
  }

  // False when an event found no room.
  bool Range(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Event& event = timeline_.events[i];
      EmptyBefore(i);
      if (event.bytes < 0) {
        allocator_.Free(event.block);
      } else if (!allocator_.Allocate(event.block, event.bytes,
                                      timeline_.blocks[event.block].stream)) {
        events_ = i;
        return false;
      }
      live_ += event.bytes;
      bound_ = std::max(bound_, live_);
      events_ = i + 1;
      if (levels_ != nullptr && i + 1 > recorded_) {
        levels_->push_back(allocator_.now());
        recorded_ = i + 1;
      }
    }
    return true;
  }

  const Timeline& timeline_;
  Allocator& allocator_;
  std::vector<MemoryLevels>* levels_;
  std::int64_t live_ = 0;
  std::int64_t bound_ = 0;
  std::size_t events_ = 0;
  std::size_t recorded_ = 0;
  std::size_t emptied_ = 0;  // of Timeline::emptied, done
};

}  // namespace

MemoryUse Replay(const Timeline& timeline, Allocator& allocator,
                 std::vector<MemoryLevels>* levels) {
  return Run(timeline, allocator, levels).All();
}

}  // namespace steelyard
