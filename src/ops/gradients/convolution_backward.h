// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the gradients of convolutions, for penalties on gradients.
#pragma once

#include <vector>

#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> ConvolutionTwice(Dispatcher& d, const Backward& b);
std::vector<Tensor> SlowTwice(Dispatcher& d, const Backward& b);

inline constexpr Gradient kConvolutionBackward{
    "ConvolutionBackwardBackward0", {GradientsOf({0, 1, 2}, {0, 1, 2}, ConvolutionTwice)}};
inline constexpr Gradient kSlowBackward{"SlowConv2DBackwardBackward0",
                                        {GradientsOf({0, 1, 2}, {0, 1, 2}, SlowTwice)}};

}  // namespace steelyard::gradients
