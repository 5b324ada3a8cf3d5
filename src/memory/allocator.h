// SPDX-License-Identifier: Apache-2.0
//
// What an allocator makes of the blocks a program asks for. A runtime says which blocks live when;
// an allocator says how many bytes that takes.
#pragma once

#include <cstdint>
#include <memory>

#include "steelyard/timeline.h"

namespace steelyard {

// All in bytes. `bound` is what no allocator can go below: the highest sum of live blocks.
struct MemoryUse {
  std::int64_t peak = 0;
  std::int64_t bound = 0;
  std::int64_t fragmentation() const { return peak - bound; }
};

// Takes blocks in the order of a timeline. Call order: (Allocate | Free)*, then Finish once.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void Allocate(std::uint32_t block, std::int64_t bytes) = 0;
  virtual void Free(std::uint32_t block) = 0;
  // The highest number of bytes that were taken at once.
  virtual std::int64_t Finish() = 0;
};

// Bytes as they are asked for: what PyTorch reports on the CPU.
std::unique_ptr<Allocator> MakeExactAllocator();

// Runs the timeline through `allocator`, and beside it computes the bound. Resident bytes are part
// of both.
MemoryUse Replay(const Timeline& timeline, Allocator& allocator);

}  // namespace steelyard
