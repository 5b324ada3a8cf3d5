// SPDX-License-Identifier: Apache-2.0
//
// What masks of attention hide: the part of a product, or of fused attention, that a mask is known
// to make worthless whatever the data are, because it is multiplied by zero or read by nothing.
//
//   const std::vector<std::int64_t> masked = CountMasked(kernels, target);
//   CountWork(imported, kernels, convention, target, {.masked = masked});
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

// Multiply-adds by node; empty where no kernel of the program could be masked.
std::vector<std::int64_t> CountMasked(const Program& kernels, const Target& target);

}  // namespace steelyard
