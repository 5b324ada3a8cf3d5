// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what overwrites a tensor with numbers of no history.
#pragma once

#include <string_view>

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor FillValue(Dispatcher& d, const Backward& b);
Tensor ZerosOfSelf(Dispatcher& d, const Backward& b);
Tensor StandardGammaSelf(Dispatcher& d, const Backward& b);
Tensor NativeDropoutInput(Dispatcher& d, const Backward& b);

// Nothing of the first operand reaches the result.
constexpr Gradient ZeroGradient(std::string_view node) {
  return {node, {GradientOf(0, {}, Zeros)}};
}

inline constexpr Gradient kZero = ZeroGradient("ZeroBackward0");
inline constexpr Gradient kFill = ZeroGradient("FillBackward0");
inline constexpr Gradient kFillInPlace = ZeroGradient("FillBackward2");
inline constexpr Gradient kFillTensor{"FillBackward3",
                                      {GradientOf(0, {}, Zeros), GradientOf(1, {}, FillValue)}};
inline constexpr Gradient kFillWithTensor{"FillBackward1",
                                          {GradientOf(0, {}, Zeros), GradientOf(1, {}, FillValue)}};
inline constexpr Gradient kBernoulli = ZeroGradient("BernoulliBackward0");
inline constexpr Gradient kBernoulliInPlace = ZeroGradient("BernoulliBackward2");
inline constexpr Gradient kNormal = ZeroGradient("NormalBackward0");
inline constexpr Gradient kCauchy = ZeroGradient("CauchyBackward0");
inline constexpr Gradient kExponential = ZeroGradient("ExponentialBackward0");
inline constexpr Gradient kGeometric = ZeroGradient("GeometricBackward0");
inline constexpr Gradient kLogNormal = ZeroGradient("LogNormalBackward0");
inline constexpr Gradient kRandomFrom = ZeroGradient("RandomBackward0");
inline constexpr Gradient kRandomTo = ZeroGradient("RandomBackward1");
inline constexpr Gradient kRandom = ZeroGradient("RandomBackward2");
inline constexpr Gradient kPoisson{"PoissonBackward0", {GradientOf(0, {}, ZerosOfSelf)}};
inline constexpr Gradient kStandardGamma{"StandardGammaBackward0",
                                         {GradientOf(0, {0, kResult}, StandardGammaSelf)}};
Tensor NativeDropoutGradOutput(Dispatcher& d, const Backward& b);
inline constexpr Gradient kNativeDropoutBackward{"NativeDropoutBackwardBackward0",
                                                 {GradientOf(0, {0, 1}, NativeDropoutGradOutput)}};
inline constexpr Gradient kNativeDropout{"NativeDropoutBackward0",
                                         {GradientOf(0, {ResultAt(1)}, NativeDropoutInput)}};
inline constexpr Gradient kUniform = ZeroGradient("UniformBackward0");

}  // namespace steelyard::gradients
