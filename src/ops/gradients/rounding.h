// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what rounds elements: none, for steps are flat, but of what is behind the point.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

inline constexpr Gradient kFloor{"FloorBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kCeil{"CeilBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRound{"RoundBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRoundToDecimals{"RoundBackward1", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kTrunc{"TruncBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kFrac{"FracBackward0", {GradientOf(0, {}, Same)}};

}  // namespace steelyard::gradients
