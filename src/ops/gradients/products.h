// SPDX-License-Identifier: Apache-2.0
//
// Gradients of products of vectors and of three tensors at once.
#pragma once

#include <vector>

#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor VdotFirst(Dispatcher& d, const Backward& b);
Tensor VdotSecond(Dispatcher& d, const Backward& b);
Tensor AddrSelf(Dispatcher& d, const Backward& b);
Tensor AddrFirst(Dispatcher& d, const Backward& b);
Tensor AddrSecond(Dispatcher& d, const Backward& b);
std::vector<Tensor> Trilinear(Dispatcher& d, const Backward& b);

inline constexpr Gradient kVdot{"VdotBackward0",
                                {GradientOf(1, {0}, VdotSecond), GradientOf(0, {1}, VdotFirst)}};
inline constexpr Gradient kAddr{
    "AddrBackward0",
    {GradientOf(0, {}, AddrSelf), GradientOf(1, {2}, AddrFirst), GradientOf(2, {1}, AddrSecond)}};
inline constexpr Gradient kTrilinear{"TrilinearBackward0",
                                     {GradientsOfFactors({0, 1, 2}, Trilinear)}};

}  // namespace steelyard::gradients
