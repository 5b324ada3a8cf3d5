// SPDX-License-Identifier: Apache-2.0
//
// Transforms of frames, and how results of transforms are scaled, as their kernels are told
// (fft_norm_mode).
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"

namespace steelyard::ops::fourier {

enum Norm : std::int64_t { kNone = 0, kByRootN = 1, kByN = 2 };

}  // namespace steelyard::ops::fourier

namespace steelyard::ops {

std::span<const OpDef> Stft();

}  // namespace steelyard::ops
