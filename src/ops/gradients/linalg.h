// SPDX-License-Identifier: Apache-2.0
//
// Gradients of matrix products.
#pragma once

#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor MmFirst(Dispatcher& d, const Backward& b);
Tensor MmSecond(Dispatcher& d, const Backward& b);
Tensor AddmmSelf(Dispatcher& d, const Backward& b);
Tensor AddmmFirst(Dispatcher& d, const Backward& b);
Tensor AddmmSecond(Dispatcher& d, const Backward& b);
Tensor BmmFirst(Dispatcher& d, const Backward& b);
Tensor BmmSecond(Dispatcher& d, const Backward& b);
Tensor BaddbmmFirst(Dispatcher& d, const Backward& b);
Tensor BaddbmmSecond(Dispatcher& d, const Backward& b);
Tensor AddbmmFirst(Dispatcher& d, const Backward& b);
Tensor AddbmmSecond(Dispatcher& d, const Backward& b);
Tensor MvMatrix(Dispatcher& d, const Backward& b);
Tensor MvVector(Dispatcher& d, const Backward& b);
Tensor AddmvSelf(Dispatcher& d, const Backward& b);
Tensor AddmvMatrix(Dispatcher& d, const Backward& b);
Tensor AddmvVector(Dispatcher& d, const Backward& b);
Tensor GroupedFirst(Dispatcher& d, const Backward& b);
Tensor GroupedSecond(Dispatcher& d, const Backward& b);
std::vector<Tensor> GroupedFallback(Dispatcher& d, const Backward& b);
Tensor DotFirst(Dispatcher& d, const Backward& b);
Tensor DotSecond(Dispatcher& d, const Backward& b);

inline constexpr Gradient kMm{"MmBackward0",
                              {GradientOf(1, {0}, MmSecond), GradientOf(0, {1}, MmFirst)}};
inline constexpr Gradient kAddmm{"AddmmBackward0",
                                 {GradientOf(1, {2}, AddmmFirst), GradientOf(2, {1}, AddmmSecond),
                                  GradientOf(0, {}, AddmmSelf)}};
inline constexpr Gradient kBmm{"BmmBackward0",
                               {GradientOf(1, {0}, BmmSecond), GradientOf(0, {1}, BmmFirst)}};
inline constexpr Gradient kBaddbmm{
    "BaddbmmBackward0",
    {GradientOf(1, {2}, BaddbmmFirst), GradientOf(2, {1}, BaddbmmSecond),
     GradientOf(0, {}, AddmmSelf)}};
inline constexpr Gradient kAddbmm{"AddbmmBackward0",
                                  {GradientOf(1, {2}, AddbmmFirst),
                                   GradientOf(2, {1}, AddbmmSecond), GradientOf(0, {}, AddmmSelf)}};
inline constexpr Gradient kMv{"MvBackward0",
                              {GradientOf(0, {1}, MvMatrix), GradientOf(1, {0}, MvVector)}};
inline constexpr Gradient kAddmv{"AddmvBackward0",
                                 {GradientOf(1, {2}, AddmvMatrix), GradientOf(0, {}, AddmvSelf),
                                  GradientOf(2, {1}, AddmvVector)}};
inline constexpr Gradient kGroupedMm{
    "GroupedMmBackward0",
    {GradientOf(1, {0, 2}, GroupedSecond), GradientOf(0, {1, 2}, GroupedFirst)}};
inline constexpr Gradient kGroupedMmFallback{
    "GeneratedBackwardFor_transformers_grouped_mm_fallback_defaultBackward",
    {GradientsOf({0, 1}, {0, 1}, GroupedFallback)},
    InPython{.context = {2}}};
inline constexpr Gradient kDot{"DotBackward0",
                               {GradientOf(0, {1}, DotFirst), GradientOf(1, {0}, DotSecond)}};

}  // namespace steelyard::gradients
