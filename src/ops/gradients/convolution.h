// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution. Autograd sees `aten::convolution`, not the kernels below it.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> ConvolutionOperands(Dispatcher& d, const Backward& b);

inline constexpr Gradient kConvolution{"ConvolutionBackward0",
                                       {GradientsOf({0, 1, 2}, {0, 1}, ConvolutionOperands)}};

}  // namespace steelyard::gradients
