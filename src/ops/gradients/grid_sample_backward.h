// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of sampling along a grid, as penalties on gradients need them.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

// Of an image or a volume.
std::vector<Tensor> GridSampleTwice(Dispatcher& d, const Backward& b);

// grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask
inline constexpr Gradient kGridSampler2dBackward{
    "GridSampler2DBackwardBackward0", {GradientsOf({0, 1, 2}, {0, 1, 2}, GridSampleTwice)}};
inline constexpr Gradient kGridSampler3dBackward{
    "GridSampler3DBackwardBackward0", {GradientsOf({0, 1, 2}, {0, 1, 2}, GridSampleTwice)}};

}  // namespace steelyard::gradients
