// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions: oneDNN runs them as the way back of a convolution, by products of
// batches of matrices with the channels last (brgconv_strided) where they are strided.
#pragma once

#include <cstdint>

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

// A gradient is the way back itself; a transposed convolution has it nested in a kernel that may
// add a bias.
enum class Use : std::uint8_t { kTransposed, kGradient };

// `problem` is the convolution whose way back it is: from its result to its source.
Buffers BackwardBuffers(const Problem& problem, Use use, const Target& target);

}  // namespace steelyard::onednn
