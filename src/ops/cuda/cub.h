// SPDX-License-Identifier: Apache-2.0
//
// The temporary storage of CUB's device-wide algorithms, as CUDA 13's headers ask for it: buffers
// that begin at multiples of 256 bytes. Tiles are what one block of threads takes at a time; they
// depend on the architecture (cub/device/dispatch/tuning).
#pragma once

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::cuda {

// DeviceRadixSort::SortPairs of `count` keys with values, by `bits` of the key.
struct PairWidths {
  std::int64_t key = 8, value = 8;  // bytes
};
std::int64_t SortPairsBytes(std::int64_t count, int bits, const Target& target,
                            PairWidths widths = {});
// DeviceRadixSort::SortKeys of `count` keys of 8 bytes.
std::int64_t SortKeysBytes(std::int64_t count, int bits, const Target& target);
// DeviceSegmentedRadixSort::SortPairs of `count` keys with values, by all bits of the key.
std::int64_t SortSegmentsBytes(std::int64_t count, PairWidths widths = {});
// DeviceSelect::UniqueByKey of `count` keys and values of 4 or 8 bytes.
std::int64_t UniqueByKeyBytes(std::int64_t count, const Target& target, std::int64_t width = 8);
// DeviceSelect::Unique of `count` numbers of 4 or 8 bytes.
std::int64_t UniqueBytes(std::int64_t count, const Target& target, std::int64_t width);
// DeviceSelect of positions among `count`, by flags.
std::int64_t SelectBytes(std::int64_t count, const Target& target);
// DeviceReduce::Sum of `count` numbers of 4 bytes.
std::int64_t SumBytes(std::int64_t count, const Target& target);
// DeviceScan by key of `count` keys and numbers of 4 or 8 bytes.
std::int64_t ScanByKeyBytes(std::int64_t count, const Target& target, std::int64_t width = 8);
// DeviceScan of `count` numbers of 8 bytes, or of 2, 4 or 8.
std::int64_t ScanBytes(std::int64_t count, std::int64_t width = 8);
// The same of complex numbers of 8 or 16 bytes.
std::int64_t ComplexScanBytes(std::int64_t count, std::int64_t width);

}  // namespace steelyard::cuda
