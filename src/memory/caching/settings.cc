// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/settings.h"

#include <algorithm>
#include <bit>

#include "support/rounding.h"

namespace steelyard {
namespace {

int FloorLog2(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

// Into how many steps the power of two that `bytes` are in is divided.
std::int64_t DivisionsAt(const AllocatorSettings& settings, std::int64_t bytes) {
  constexpr int kFirst = 20;  // the log2 of the first entry: 1 MiB
  const int last = static_cast<int>(AllocatorSettings::kDivisionCount) - 1;
  const int entry = std::clamp(FloorLog2(bytes) - kFirst, 0, last);
  return settings.roundup_divisions[static_cast<std::size_t>(entry)];
}

}  // namespace

AllocatorSettings AllocatorSettingsOfTorch(int major, int minor) {
  AllocatorSettings settings;
  // pytorch #183591 is of May 2026; 2.9 was seen to go by address, 2.15 by age.
  const bool by_address = major < 2 || (major == 2 && minor <= 12);
  settings.tie_break = by_address ? TieBreak::kAddress : TieBreak::kSegmentAge;
  return settings;
}

std::int64_t RoundedSize(const AllocatorSettings& settings, std::int64_t bytes) {
  // No device has as much, and what is larger cannot be rounded.
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  bytes = std::min(bytes, kMost);
  if (bytes < kBlockQuantum) return kBlockQuantum;
  const std::int64_t divisions = DivisionsAt(settings, bytes);
  if (divisions <= 1 || bytes <= kBlockQuantum * divisions) return RoundUp(bytes, kBlockQuantum);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  if (bytes == power) return bytes;
  return RoundUp(bytes, power >> FloorLog2(divisions));
}

std::int64_t SegmentSize(const AllocatorSettings& settings, std::int64_t size) {
  if (size <= kSmallLimit) return kSmallSegment;
  if (size < kPackedLimit) return settings.large_segment_size;
  return RoundUp(size, kSegmentQuantum);
}

}  // namespace steelyard
