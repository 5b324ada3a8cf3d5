// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of normalizations, for penalties on gradients.
#pragma once

#include <vector>

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

std::vector<Tensor> LayerNormTwice(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchNormTwice(Dispatcher& d, const Backward& b);

// grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
inline constexpr Gradient kLayerNormBackward{
    "NativeLayerNormBackwardBackward0",
    {GradientsOf({1, 5, 0}, {0, 1, 3, 4, 5}, LayerNormTwice), GradientOf(6, {}, Nothing),
     GradientOf(3, {}, NotImplemented), GradientOf(4, {}, NotImplemented)}};
// grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
// output_mask
inline constexpr Gradient kBatchNormBackward{
    "NativeBatchNormBackwardBackward0",
    {GradientsOf({1, 2, 0}, {0, 1, 2, 3, 4, 5, 6}, BatchNormTwice),
     GradientOf(5, {}, NotImplemented), GradientOf(6, {}, NotImplemented)}};

}  // namespace steelyard::gradients
