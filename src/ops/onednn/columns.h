// SPDX-License-Identifier: Apache-2.0
//
// Convolutions that oneDNN computes as products of matrices (gemm:jit): the windows of the image
// become columns of a buffer, for as many channels and pixels at a time as the cache holds.
#pragma once

#include <optional>

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

// Bytes of the kernel's scratch; none where it would refuse to run.
std::optional<Count> ColumnScratch(const Problem& problem, const Target& target);
// The same of the kernel that goes from the result back to the image.
std::optional<Count> BackwardColumnScratch(const Problem& problem, const Target& target);
// The same of the kernel that gives the gradient of the weight.
std::optional<Count> WeightColumnScratch(const Problem& problem, const Target& target);

}  // namespace steelyard::onednn
