// SPDX-License-Identifier: Apache-2.0
//
// Gradients of LU factors, and of what is solved by them.
#pragma once

#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor LuOf(Dispatcher& d, const Backward& b);
Tensor LuFactorOf(Dispatcher& d, const Backward& b);
Tensor LuUnpackOf(Dispatcher& d, const Backward& b);
Tensor LuSolveFactors(Dispatcher& d, const Backward& b);
Tensor LuSolveSides(Dispatcher& d, const Backward& b);

inline constexpr Gradient kLu =
    Gradient("LinalgLuBackward0", {GradientOf(0, {kResult, ResultAt(1), ResultAt(2)}, LuOf)})
        .OnlyOf({1, 2});
inline constexpr Gradient kLuFactor{"LinalgLuFactorExBackward0",
                                    {GradientOf(0, {kResult, ResultAt(1)}, LuFactorOf)}};
inline constexpr Gradient kLuUnpack =
    Gradient("LuUnpackBackward0", {GradientOf(0, {}, LuUnpackOf)}).OnlyOf({1, 2});
inline constexpr Gradient kLuSolve{
    "LinalgLuSolveBackward0",
    {GradientOf(2, {0, 1}, LuSolveSides), GradientOf(0, {0, 1, kResult}, LuSolveFactors)}};

}  // namespace steelyard::gradients
