// SPDX-License-Identifier: Apache-2.0
//
// Gradients of distances between vectors.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor DistanceOfFirst(Dispatcher& d, const Backward& b);
Tensor DistanceOfSecond(Dispatcher& d, const Backward& b);
std::vector<Tensor> EuclideanDistances(Dispatcher& d, const Backward& b);
Tensor DistancesOfFirst(Dispatcher& d, const Backward& b);
Tensor DistancesOfSecond(Dispatcher& d, const Backward& b);
Tensor PairDistances(Dispatcher& d, const Backward& b);

inline constexpr Gradient kDistance{"DistBackward0",
                                    {GradientOf(1, {0, 1, kResult}, DistanceOfSecond),
                                     GradientOf(0, {0, 1, kResult}, DistanceOfFirst)}};
inline constexpr Gradient kEuclideanDistance{
    "EuclideanDistBackward0", {GradientsOf({0, 1}, {0, 1, kResult}, EuclideanDistances)}};
inline constexpr Gradient kDistances{"CdistBackward0",
                                     {GradientOf(0, {0, 1, kResult}, DistancesOfFirst),
                                      GradientOf(1, {0, 1, kResult}, DistancesOfSecond)}};
inline constexpr Gradient kPairDistances{"PdistBackward0",
                                         {GradientOf(0, {0, kResult}, PairDistances)}};

}  // namespace steelyard::gradients
