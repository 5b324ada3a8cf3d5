// SPDX-License-Identifier: Apache-2.0
//
// What an allocator makes of the blocks a program asks for. A runtime says which blocks live when;
// an allocator says how many bytes that takes.
//
//   MemoryUse use = Replay(timeline, *MakeExactAllocator());
//
// That of CUDA stands in caching/timeline_allocator.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "steelyard/timeline.h"

namespace steelyard {

// What is taken at one moment, or the most of each. An allocator that hands out bytes as they are
// asked for has the first three equal, and nothing else.
struct MemoryLevels {
  std::int64_t requested = 0;  // bytes that the program asked for
  std::int64_t allocated = 0;  // bytes of the blocks that it got
  std::int64_t reserved = 0;   // bytes taken from the device
  std::int64_t segments = 0;   // how many pieces of memory these are
  std::int64_t active = 0;     // bytes of what is allocated, or still used by another stream
  std::int64_t inactive = 0;   // bytes that are free beside other blocks of their segments
  friend bool operator==(const MemoryLevels&, const MemoryLevels&) = default;
};

// All in bytes but for the last two. `bound` is what no allocator can go below: the highest sum of
// live blocks.
struct MemoryUse {
  std::int64_t peak = 0;  // of what is allocated
  std::int64_t bound = 0;
  std::int64_t requested = 0;  // peaks, each by itself
  std::int64_t reserved = 0;
  std::int64_t segments = 0;
  std::size_t events = 0;  // how many ran: fewer than there are if one found no room
};

// Takes blocks in the order of a timeline. Call order: Begin once, Keep*, (Allocate | Free |
// EmptyCache | now)*, then Finish once.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // `resident` bytes are there and stay. An allocator that has them already need not take them.
  virtual void Begin(std::int64_t resident) = 0;
  // So is this block, which may be freed.
  virtual void Keep(std::uint32_t block, std::int64_t bytes) = 0;
  // On a stream of the device. Returns false if there is no room.
  [[nodiscard]] virtual bool Allocate(std::uint32_t block, std::int64_t bytes,
                                      std::uint32_t stream) = 0;
  virtual void Free(std::uint32_t block) = 0;
  // Gives back what it keeps free.
  virtual void EmptyCache() {}
  [[nodiscard]] virtual MemoryLevels now() const = 0;
  // Whether all is as it was at the last call of this function, so that what led here would lead
  // here again.
  [[nodiscard]] virtual bool Settled() = 0;
  // The highest since `Begin`.
  virtual MemoryLevels Finish() = 0;
};

// Bytes as they are asked for: what PyTorch reports on the CPU.
std::unique_ptr<Allocator> MakeExactAllocator();

// Runs the timeline through `allocator`, and beside it computes the bound. Resident bytes are part
// of both. Events that repeat are run until another time would change nothing. Given `levels`, adds
// to them what is taken before the first event and after each.
MemoryUse Replay(const Timeline& timeline, Allocator& allocator,
                 std::vector<MemoryLevels>* levels = nullptr);

}  // namespace steelyard
