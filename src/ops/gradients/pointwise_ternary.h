// SPDX-License-Identifier: Apache-2.0
//
// Gradients of products and quotients that are added, and of linear interpolation.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor LerpSelf(Dispatcher& d, const Backward& b);
Tensor LerpEnd(Dispatcher& d, const Backward& b);
Tensor LerpByTensorSelf(Dispatcher& d, const Backward& b);
Tensor LerpByTensorEnd(Dispatcher& d, const Backward& b);
Tensor LerpWeight(Dispatcher& d, const Backward& b);
Tensor AddcmulFirst(Dispatcher& d, const Backward& b);
Tensor AddcmulSecond(Dispatcher& d, const Backward& b);
Tensor AddcdivFirst(Dispatcher& d, const Backward& b);
Tensor AddcdivSecond(Dispatcher& d, const Backward& b);

inline constexpr Gradient kAddcmul{
    "AddcmulBackward0",
    {GradientOf(0, {}, Same), GradientOf(1, {2}, AddcmulFirst), GradientOf(2, {1}, AddcmulSecond)}};
inline constexpr Gradient kAddcdiv{"AddcdivBackward0",
                                   {GradientOf(0, {}, Same), GradientOf(1, {2}, AddcdivFirst),
                                    GradientOf(2, {1, 2}, AddcdivSecond)}};
inline constexpr Gradient kLerp{"LerpBackward0",
                                {GradientOf(1, {}, LerpEnd), GradientOf(0, {}, LerpSelf)}};
inline constexpr Gradient kLerpByTensor{
    "LerpBackward1",
    {GradientOf(1, {2}, LerpByTensorEnd), GradientOf(0, {2}, LerpByTensorSelf),
     GradientOf(2, {0, 1}, LerpWeight)}};

}  // namespace steelyard::gradients
