// SPDX-License-Identifier: Apache-2.0
//
// What a caching allocator holds at one moment: rows of segments with their blocks, as
// torch.cuda.memory._snapshot lists them and as a picture of them is drawn.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/caching/free_blocks.h"

namespace steelyard {

enum class BlockState : std::uint8_t {
  kAllocated,   // the program has it
  kAwaitsFree,  // the program has freed it, a stream may still use it
  kFree,
};
// The name of a state in PyTorch's snapshots: "active_allocated".
[[nodiscard]] std::string_view NameOf(BlockState state);

struct MappedBlock {
  std::int64_t offset = 0;  // in its segment
  std::int64_t size = 0;
  std::int64_t requested = 0;  // 0 where it is free
  BlockState state = BlockState::kFree;
  friend bool operator==(const MappedBlock&, const MappedBlock&) = default;
};

// Of an expandable segment, each stretch that has memory is one row.
struct MappedSegment {
  std::int64_t address = 0;
  std::int64_t size = 0;
  std::int64_t allocated = 0;
  std::int64_t active = 0;
  std::int64_t requested = 0;
  StreamId stream = 0;
  std::uint32_t pool = 0;  // 0: the default one
  bool is_small = false;
  bool is_expandable = false;
  std::vector<MappedBlock> blocks;  // side by side, from the first byte to the last
  friend bool operator==(const MappedSegment&, const MappedSegment&) = default;
};

using SegmentMap = std::vector<MappedSegment>;

}  // namespace steelyard
