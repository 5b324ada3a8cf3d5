// SPDX-License-Identifier: Apache-2.0
//
// Sizes of buffers are those of CUB's dispatch headers, tiles those of its tunings: they are chosen
// by generation and by the width of keys, and were measured over many counts.

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

// The same in 8 bytes for each.
std::int64_t SmallTileStates(std::int64_t count, std::int64_t tile) {
  constexpr std::int64_t kWarp = 32, kStateBytes = 8;
  return (DivideUp(count, tile) + kWarp) * kStateBytes;
}

// The tile of those of an algorithm, by generation.
struct Tiles {
  std::int64_t hopper, ampere, others;
  std::int64_t of(const Target& target) const {
    return target.capability >= kHopper ? hopper : target.capability == kAmpere ? ampere : others;
  }
};

// How many pairs a block sorts at a time.
std::int64_t SortTile(std::int64_t width, int capability) {
  if (capability >= kHopper)
    return width == 8 ? 4608 : width == 4 ? 5376 : width == 2 ? 5632 : 3456;
  if (capability >= kAmpere) return width == 8 ? 3840 : 3072;
  return 2816;
}

// A pass for each digit of the key: counts of digits, those of the tiles before each, and, where
// there are several, a second buffer.
std::int64_t OneSweepBytes(std::int64_t count, std::int64_t tile, int bits, PairWidths widths) {
  constexpr int kDigitBits = 8;
  constexpr std::int64_t kDigits = std::int64_t{1} << kDigitBits;
  const std::int64_t passes = DivideUp(std::max(bits, 1), kDigitBits);
  const std::int64_t lookback = DivideUp(count, tile) * kDigits * 4;
  const std::int64_t keys = passes > 1 ? count * widths.key : 0;
  const std::int64_t values = passes > 1 ? count * widths.value : 0;
  return Together({passes * kDigits * kWidth, lookback, keys, values, passes * 4});
}

// Before Hopper, narrow keys are sorted by digits of fewer bits, of which each block of threads has
// counts; CUB asks how many blocks a multiprocessor holds. Threads allow these, registers may allow
// fewer.
std::int64_t NarrowSortBytes(std::int64_t count, const Target& target, PairWidths widths) {
  constexpr std::int64_t kBlocksPerResident = 5, kMostResident = 32, kScanTile = 11264;
  const std::int64_t threads = widths.key == 1 ? 64 : 128, digits = widths.key == 1 ? 32 : 128;
  const std::int64_t resident =
      std::min<std::int64_t>(target.multiprocessor_threads / threads, kMostResident);
  const std::int64_t blocks = target.multiprocessors * resident * kBlocksPerResident;
  return Together({(blocks * digits + kScanTile) * 4, count * widths.key, count * widths.value});
}

}  // namespace

std::int64_t SortPairsBytes(std::int64_t count, int bits, const Target& target, PairWidths widths) {
  // One block sorts a tile in shared memory: 256 threads, each with 19 words.
  constexpr std::int64_t kThreads = 256, kWordsOfThread = 19;
  const std::int64_t words = std::max<std::int64_t>(std::max(widths.key, widths.value) / 4, 1);
  if (count <= kThreads * (kWordsOfThread / words)) return 1;
  if (target.capability < kHopper && widths.key < 4) return NarrowSortBytes(count, target, widths);
  return OneSweepBytes(count, SortTile(widths.key, target.capability), bits, widths);
}

std::int64_t SortKeysBytes(std::int64_t count, int bits, const Target& target) {
  constexpr Tiles kTiles{5760, 3840, 3840};
  return OneSweepBytes(count, kTiles.of(target), bits, {.value = 0});
}

std::int64_t SortSegmentsBytes(std::int64_t count, PairWidths widths) {
  return Together({count * widths.key, count * widths.value});
}

std::int64_t UniqueByKeyBytes(std::int64_t count, const Target& target, std::int64_t width) {
  constexpr Tiles kTiles{4928, 1344, 320}, kTilesOf4{7168, 2816, 704};
  const Tiles& tiles = width == kWidth ? kTiles : kTilesOf4;
  return Together({TileStates(count, tiles.of(target)), 1});
}

std::int64_t UniqueBytes(std::int64_t count, const Target& target, std::int64_t width) {
  const bool wide = width == kWidth;
  const int capability = target.capability;
  const std::int64_t tile = capability > kHopper    ? (wide ? 4224 : 5760)
                            : capability == kHopper ? (wide ? 4224 : 6528)
                            : capability == kAmpere ? (wide ? 1920 : 4608)
                                                    : (wide ? 640 : 1280);
  return Together({SmallTileStates(count, tile), 1});
}

std::int64_t SelectBytes(std::int64_t count, const Target& target) {
  constexpr std::int64_t kBlackwell = 3520;
  constexpr Tiles kTiles{4224, 2304, 640};
  const std::int64_t tile = target.capability > kHopper ? kBlackwell : kTiles.of(target);
  return Together({SmallTileStates(count, tile), 1});
}

// One block sums a tile; else each block has a sum, and there are five for each that fits on the
// device, as far as threads allow.
std::int64_t SumBytes(std::int64_t count, const Target& target) {
  constexpr std::int64_t kThreads = 256, kTile = kThreads * 16, kBlocksPerResident = 5;
  if (count <= kTile) return 1;
  const std::int64_t resident = target.multiprocessor_threads / kThreads;
  return Together({target.multiprocessors * resident * kBlocksPerResident * 4});
}

std::int64_t ScanByKeyBytes(std::int64_t count, const Target& target, std::int64_t width) {
  constexpr Tiles kTiles{2464, 2240, 2304}, kTilesOf4{4032, 3840, 2304};
  const std::int64_t tile = (width == kWidth ? kTiles : kTilesOf4).of(target);
  // Beside the states the key before each tile.
  return Together({TileStates(count, tile), DivideUp(count, tile) * width});
}

namespace {

// States of 4 bytes that lie apart from the sums of tiles and those up to each.
std::int64_t StatesAndSums(std::int64_t count, std::int64_t tile, std::int64_t width) {
  constexpr std::int64_t kWarp = 32;
  const std::int64_t states = DivideUp(count, tile) + kWarp;
  return Together({states * 4, states * width, states * width, 1});
}

}  // namespace

std::int64_t ScanBytes(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kTile = 896, kTileOf4 = 1920, kTileOf2 = 3840, kWarp = 32;
  if (width >= kWidth) return Together({TileStates(count, kTile), 1});
  // A state of 8 bytes.
  if (width == 4) return Together({(DivideUp(count, kTileOf4) + kWarp) * kWidth, 1});
  return StatesAndSums(count, kTileOf2, width);
}

std::int64_t ComplexScanBytes(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kTileOf8 = 896, kTileOf16 = 384;
  return StatesAndSums(count, width > kWidth ? kTileOf16 : kTileOf8, width);
}

}  // namespace steelyard::cuda
