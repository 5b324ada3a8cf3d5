// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what limits elements to numbers or to tensors.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/comparison.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor Clamp(Dispatcher& d, const Backward& b);
Tensor ClampMin(Dispatcher& d, const Backward& b);
Tensor ClampMax(Dispatcher& d, const Backward& b);
std::vector<Tensor> ClampBounds(Dispatcher& d, const Backward& b);
Tensor ClampByTensors(Dispatcher& d, const Backward& b);

inline constexpr Gradient kClamp{"ClampBackward1", {GradientOf(0, {0}, Clamp)}};
inline constexpr Gradient kClampMin{"ClampMinBackward0", {GradientOf(0, {0}, ClampMin)}};
inline constexpr Gradient kClampMax{"ClampMaxBackward0", {GradientOf(0, {0}, ClampMax)}};
inline constexpr Gradient kClampByTensors{
    "ClampBackward0",
    {GradientsOf({1, 2}, {0, 1, 2}, ClampBounds), GradientOf(0, {0, 1, 2}, ClampByTensors)}};
inline constexpr Gradient kClampMinByTensor{
    "ClampMinBackward1", {GradientOf(1, {0, 1}, WhereGreater), GradientOf(0, {0, 1}, WhereLess)}};
inline constexpr Gradient kClampMaxByTensor{
    "ClampMaxBackward1", {GradientOf(1, {0, 1}, WhereLess), GradientOf(0, {0, 1}, WhereGreater)}};

}  // namespace steelyard::gradients
