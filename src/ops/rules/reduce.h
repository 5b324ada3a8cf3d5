// SPDX-License-Identifier: Apache-2.0
//
// What losses do with their terms (ATen/core/Reduction.h).
#pragma once

#include <cstdint>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"

namespace steelyard::ops {

// By PyTorch's numbers.
enum class LossReduction : std::uint8_t { kNone, kMean, kSum };

// The i-th argument of a call; refused where there is no such reduction.
LossReduction ReductionOf(const OpView& op, int i);

Tensor Reduce(Dispatcher& d, const Tensor& terms, LossReduction reduction);

}  // namespace steelyard::ops
