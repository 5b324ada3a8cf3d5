// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what overwrites a tensor with numbers of no history.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor FillValue(Dispatcher& d, const Backward& b);

inline constexpr Gradient kZero{"ZeroBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kFill{"FillBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kFillInPlace{"FillBackward2", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kFillTensor{"FillBackward3",
                                      {GradientOf(0, {}, Zeros), GradientOf(1, {}, FillValue)}};
inline constexpr Gradient kBernoulli{"BernoulliBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kBernoulliInPlace{"BernoulliBackward2", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kNormal{"NormalBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kCauchy{"CauchyBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kExponential{"ExponentialBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kGeometric{"GeometricBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kLogNormal{"LogNormalBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRandomFrom{"RandomBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRandomTo{"RandomBackward1", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRandom{"RandomBackward2", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kUniform{"UniformBackward0", {GradientOf(0, {}, Zeros)}};

}  // namespace steelyard::gradients
