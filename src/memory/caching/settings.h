// SPDX-License-Identifier: Apache-2.0
//
// How PyTorch's caching allocator for CUDA is set up: what PYTORCH_ALLOC_CONF may say, what
// torch.cuda.set_per_process_memory_fraction may, and what versions of PyTorch do differently.
//
//   SY_ASSIGN_OR_RETURN(AllocatorSettings settings,
//                       ParseAllocatorSettings("max_split_size_mb:128,expandable_segments:True"));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "steelyard/error.h"
#include "steelyard/units.h"

namespace steelyard {

// What is the same in every version (c10/core/AllocatorConfig.h in PyTorch's wheels).
inline constexpr std::int64_t kBlockQuantum = 512;         // sizes are multiples of it
inline constexpr std::int64_t kSmallLimit = kMiB;          // up to it, blocks are of the small pool
inline constexpr std::int64_t kSmallSegment = 2 * kMiB;    // what that pool takes at once
inline constexpr std::int64_t kPackedLimit = 10 * kMiB;    // below it, blocks share large segments
inline constexpr std::int64_t kSegmentQuantum = 2 * kMiB;  // of segments for one block alone

// Which of several free blocks of one size is taken.
enum class TieBreak : std::uint8_t {
  kAddress,     // the lowest, wherever the driver has put the segments: up to PyTorch 2.12
  kSegmentAge,  // of the segment that was made first, the lowest: since then
};

// How much address space one expandable segment takes.
struct AddressReserve {
  bool is_share = true;    // of the device's memory; otherwise bytes
  double share = 9.0 / 8;  // never more than this is taken
  std::int64_t bytes = 0;
};

struct AllocatorSettings {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t kDivisionCount = 16;

  TieBreak tie_break = TieBreak::kSegmentAge;
  std::int64_t max_split_size = kUnlimited;  // bytes; a block from this size on stays whole
  std::int64_t max_non_split_rounding = 20 * kMiB;
  std::int64_t large_segment_size = 20 * kMiB;
  // Into how many steps the sizes between two powers of two are divided: of sizes up to 2 MiB the
  // first, up to 4 MiB the next, from 32 GiB on the last. 0 and 1: sizes are multiples of the
  // quantum.
  std::array<std::int64_t, kDivisionCount> roundup_divisions{};
  double garbage_collection_threshold = 0;  // a share of what `memory_fraction` allows; 0: never
  std::optional<double> memory_fraction;    // of the device's memory; none: no limit of its own
  bool expandable_segments = false;
  AddressReserve expandable_reserve;
  bool refuse_early = false;  // throw_on_cudamalloc_oom
};

// Understands what the environment variable says: keys with values, separated by commas. Options
// of the allocator for pinned host memory, and those that move no block on the device, are checked
// and left out. Errors: a key that PyTorch does not know, a value that it would refuse, another
// backend.
[[nodiscard]] Result<AllocatorSettings> ParseAllocatorSettings(std::string_view text);

// What PyTorch `major`.`minor` does where nothing is set.
[[nodiscard]] AllocatorSettings AllocatorSettingsOfTorch(int major, int minor);

// Returns what the allocator makes of a request: the size of the block that is looked for.
[[nodiscard]] std::int64_t RoundedSize(const AllocatorSettings& settings, std::int64_t bytes);

// Returns what is taken from the device when no free block holds a block of `size`, a rounded one.
[[nodiscard]] std::int64_t SegmentSize(const AllocatorSettings& settings, std::int64_t size);

}  // namespace steelyard
