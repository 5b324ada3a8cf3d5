// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of distances, as penalties on gradients need them.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> DistancesTwice(Dispatcher& d, const Backward& b);
std::vector<Tensor> PairDistancesTwice(Dispatcher& d, const Backward& b);

// grad_output, x1, x2, p, cdist
inline constexpr Gradient kDistancesBackward{
    "CdistBackwardBackward0", {GradientsOf({0, 1, 2, 4}, {0, 1, 2, 4}, DistancesTwice)}};
// grad_output, self, p, pdist
inline constexpr Gradient kPairDistancesBackward{
    "PdistBackwardBackward0", {GradientsOf({0, 1, 3}, {0, 1, 3}, PairDistancesTwice)}};

}  // namespace steelyard::gradients
