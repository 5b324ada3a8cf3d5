// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what a mask chooses between.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor WhereSelf(Dispatcher& d, const Backward& b);
Tensor WhereOther(Dispatcher& d, const Backward& b);
Tensor MaskedFillSelf(Dispatcher& d, const Backward& b);
Tensor MaskedFillValue(Dispatcher& d, const Backward& b);

inline constexpr Gradient kWhere{"WhereBackward0",
                                 {GradientOf(2, {0}, WhereOther), GradientOf(1, {0}, WhereSelf)}};
inline constexpr Gradient kMaskedFill{"MaskedFillBackward0", {GradientOf(0, {1}, MaskedFillSelf)}};
inline constexpr Gradient kMaskedFillTensor{
    "MaskedFillBackward1",
    {GradientOf(0, {1}, MaskedFillSelf), GradientOf(2, {1}, MaskedFillValue)}};

}  // namespace steelyard::gradients
