// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions: oneDNN runs them as the way back of a convolution, by products of
// batches of matrices with the channels last (brgconv_strided) where they are strided.
#pragma once

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

// `problem` is the convolution whose way back it is: from its result to its source.
Buffers BackwardBuffers(const Problem& problem, const Target& target);

}  // namespace steelyard::onednn
