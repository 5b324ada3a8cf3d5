// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the larger and the smaller of two.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

// What an extreme, or a bound, leaves argument 0: the gradient, half of it where it is equal to
// argument `other`, none where the comparison `lost` holds.
Tensor ShareOfExtreme(Dispatcher& d, const Backward& b, int other, OpName lost);

Tensor WhereLess(Dispatcher& d, const Backward& b);
Tensor WhereGreater(Dispatcher& d, const Backward& b);
Tensor FmaxSelf(Dispatcher& d, const Backward& b);
Tensor FmaxOther(Dispatcher& d, const Backward& b);
Tensor FminSelf(Dispatcher& d, const Backward& b);
Tensor FminOther(Dispatcher& d, const Backward& b);

inline constexpr Gradient kMinimum{
    "MinimumBackward0", {GradientOf(1, {0, 1}, WhereLess), GradientOf(0, {0, 1}, WhereGreater)}};
inline constexpr Gradient kMaximum{
    "MaximumBackward0", {GradientOf(1, {0, 1}, WhereGreater), GradientOf(0, {0, 1}, WhereLess)}};
inline constexpr Gradient kFmax{
    "FmaxBackward0", {GradientOf(1, {0, 1}, FmaxOther), GradientOf(0, {0, 1}, FmaxSelf)}};
inline constexpr Gradient kFmin{
    "FminBackward0", {GradientOf(1, {0, 1}, FminOther), GradientOf(0, {0, 1}, FminSelf)}};

}  // namespace steelyard::gradients
