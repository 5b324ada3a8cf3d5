// SPDX-License-Identifier: Apache-2.0
//
// The temporary storage of CUB's device-wide algorithms, as CUDA 13's headers ask for it: buffers
// that begin at multiples of 256 bytes. Tiles are what one block of threads takes at a time; they
// depend on the architecture (cub/device/dispatch/tuning).
#pragma once

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::cuda {

// DeviceRadixSort::SortPairs of `count` keys and values of 8 bytes each, by `bits` of the key.
std::int64_t SortPairsBytes(std::int64_t count, int bits, const Target& target);
// DeviceSelect::UniqueByKey of `count` keys and values of 8 bytes.
std::int64_t UniqueByKeyBytes(std::int64_t count, const Target& target);
// DeviceScan of `count` numbers of 8 bytes.
std::int64_t ScanBytes(std::int64_t count);

}  // namespace steelyard::cuda
