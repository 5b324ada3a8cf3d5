// SPDX-License-Identifier: Apache-2.0
//
// Gradients of selections: what was not selected has none.
#pragma once

#include "steelyard/gradient.h"

namespace steelyard::gradients {

Tensor SelectedValues(Dispatcher& d, const Backward& b);
Tensor SelectedOfDim(Dispatcher& d, const Backward& b);
Tensor IndexSelectSelf(Dispatcher& d, const Backward& b);
Tensor GatherSelf(Dispatcher& d, const Backward& b);
Tensor IndexSelf(Dispatcher& d, const Backward& b);
Tensor TrilSelf(Dispatcher& d, const Backward& b);
Tensor TriuSelf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kTopk{"TopkBackward0", {GradientOf(0, {ResultAt(1)}, SelectedValues)}};
inline constexpr Gradient kSort{"SortBackward0", {GradientOf(0, {ResultAt(1)}, SelectedValues)}};
inline constexpr Gradient kMaxDim{"MaxBackward0", {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kMinDim{"MinBackward0", {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kIndexSelect{"IndexSelectBackward0",
                                       {GradientOf(0, {2}, IndexSelectSelf)}};
inline constexpr Gradient kGather{"GatherBackward0", {GradientOf(0, {0, 2}, GatherSelf)}};
inline constexpr Gradient kIndex{"IndexBackward0", {GradientOf(0, {1}, IndexSelf)}};
inline constexpr Gradient kTril{"TrilBackward0", {GradientOf(0, {}, TrilSelf)}};
inline constexpr Gradient kTriu{"TriuBackward0", {GradientOf(0, {}, TriuSelf)}};

}  // namespace steelyard::gradients
