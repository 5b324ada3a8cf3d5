// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cub.h"

#include <algorithm>
#include <initializer_list>

namespace steelyard::cuda {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kWidth = 8;  // bytes of keys, values and numbers
constexpr int kHopper = 90, kAmpere = 80;

std::int64_t Up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Buffers behind each other, with room to align the first.
std::int64_t Together(std::initializer_list<std::int64_t> buffers) {
  std::int64_t bytes = kAlignment - 1;
  for (const std::int64_t buffer : buffers) bytes += Up(buffer, kAlignment) * kAlignment;
  return bytes;
}

// What tiles tell each other: 16 bytes for each, and for a warp of tiles before the first.
std::int64_t TileStates(std::int64_t count, std::int64_t tile) {
  constexpr std::int64_t kWarp = 32, kStateBytes = 16;
  return (Up(count, tile) + kWarp) * kStateBytes;
}

}  // namespace

std::int64_t SortPairsBytes(std::int64_t count, int bits, const Target& target) {
  constexpr int kDigitBits = 8;
  constexpr std::int64_t kDigits = std::int64_t{1} << kDigitBits;
  const int capability = target.capability;
  // Tiles of 384 threads with 12 or 10 elements, of 256 with 11 on older devices.
  const std::int64_t tile = capability >= kHopper ? 4608 : capability >= kAmpere ? 3840 : 2816;
  const std::int64_t passes = Up(std::max(bits, 1), kDigitBits);
  const std::int64_t lookback = Up(count, tile) * kDigits * 4;
  const std::int64_t copies = passes > 1 ? count * kWidth : 0;
  return Together({passes * kDigits * kWidth, lookback, copies, copies, passes * 4});
}

std::int64_t UniqueByKeyBytes(std::int64_t count, const Target& target) {
  const std::int64_t tile = target.capability >= kHopper   ? 4928
                            : target.capability == kAmpere ? 1344
                                                           : 320;
  return Together({TileStates(count, tile), 1});
}

std::int64_t ScanBytes(std::int64_t count) {
  constexpr std::int64_t kTile = 896;
  return Together({TileStates(count, kTile), 1});
}

}  // namespace steelyard::cuda
