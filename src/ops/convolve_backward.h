// SPDX-License-Identifier: Apache-2.0
//
// The operator around the backward kernels of convolutions, which chooses the one that belongs to
// the forward kernel.
#pragma once

#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops::convolve {

// aten::convolution_backward.
std::vector<Tensor> Backward(Dispatcher& d, const OpView& op);

}  // namespace steelyard::ops::convolve
