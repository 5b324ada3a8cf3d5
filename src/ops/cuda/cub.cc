// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cub.h"

#include <algorithm>
#include <initializer_list>

#include "ops/cuda/capability.h"
#include "support/rounding.h"

namespace steelyard::cuda {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kWidth = 8;  // bytes of keys, values and numbers

// Buffers behind each other, with room to align the first.
std::int64_t Together(std::initializer_list<std::int64_t> buffers) {
  std::int64_t bytes = kAlignment - 1;
  for (const std::int64_t buffer : buffers) bytes += RoundUp(buffer, kAlignment);
  return bytes;
}

// What tiles tell each other: 16 bytes for each, and for a warp of tiles before the first.
std::int64_t TileStates(std::int64_t count, std::int64_t tile) {
  constexpr std::int64_t kWarp = 32, kStateBytes = 16;
  return (DivideUp(count, tile) + kWarp) * kStateBytes;
}

// How many pairs a block sorts at a time.
std::int64_t SortTile(std::int64_t width, int capability) {
  if (capability >= kHopper)
    return width == 8 ? 4608 : width == 4 ? 5376 : width == 2 ? 5632 : 3456;
  if (capability >= kAmpere) return width == 8 ? 3840 : 3072;
  return 2816;
}

}  // namespace

std::int64_t SortPairsBytes(std::int64_t count, int bits, const Target& target, PairWidths widths) {
  constexpr int kDigitBits = 8;
  constexpr std::int64_t kDigits = std::int64_t{1} << kDigitBits;
  // One block sorts a tile in shared memory: 256 threads, each with 19 words.
  constexpr std::int64_t kThreads = 256, kWordsOfThread = 19;
  const std::int64_t words = std::max<std::int64_t>(std::max(widths.key, widths.value) / 4, 1);
  if (count <= kThreads * (kWordsOfThread / words)) return 1;
  const std::int64_t passes = DivideUp(std::max(bits, 1), kDigitBits);
  const std::int64_t lookback =
      DivideUp(count, SortTile(widths.key, target.capability)) * kDigits * 4;
  const std::int64_t keys = passes > 1 ? count * widths.key : 0;
  const std::int64_t values = passes > 1 ? count * widths.value : 0;
  return Together({passes * kDigits * kWidth, lookback, keys, values, passes * 4});
}

std::int64_t UniqueByKeyBytes(std::int64_t count, const Target& target) {
  const std::int64_t tile = target.capability >= kHopper   ? 4928
                            : target.capability == kAmpere ? 1344
                                                           : 320;
  return Together({TileStates(count, tile), 1});
}

std::int64_t UniqueBytes(std::int64_t count, const Target& target, std::int64_t width) {
  constexpr std::int64_t kWarp = 32, kStateBytes = 8;
  const bool wide = width == kWidth;
  const int capability = target.capability;
  const std::int64_t tile = capability > kHopper    ? (wide ? 4224 : 5760)
                            : capability == kHopper ? (wide ? 4224 : 6528)
                            : capability == kAmpere ? (wide ? 1920 : 4608)
                                                    : (wide ? 640 : 1280);
  return Together({(DivideUp(count, tile) + kWarp) * kStateBytes, 1});
}

std::int64_t ScanByKeyBytes(std::int64_t count, const Target& target) {
  const std::int64_t tile = target.capability >= kHopper   ? 2464
                            : target.capability == kAmpere ? 2240
                                                           : 2304;
  // Beside the states the key before each tile.
  return Together({TileStates(count, tile), DivideUp(count, tile) * kWidth});
}

std::int64_t ScanBytes(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kTile = 896, kTileOf4 = 1920, kTileOf2 = 3840, kWarp = 32;
  if (width >= kWidth) return Together({TileStates(count, kTile), 1});
  // A state of 8 bytes; of half-precision numbers the states lie apart from the sums.
  if (width == 4) return Together({(DivideUp(count, kTileOf4) + kWarp) * kWidth, 1});
  const std::int64_t states = DivideUp(count, kTileOf2) + kWarp;
  return Together({states * 4, states * width, states * width, 1});
}

}  // namespace steelyard::cuda
