// SPDX-License-Identifier: Apache-2.0
//
// Gradients of powers and roots.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor Pow(Dispatcher& d, const Backward& b);
Tensor PowBase(Dispatcher& d, const Backward& b);
Tensor PowExponent(Dispatcher& d, const Backward& b);
Tensor PowOfNumber(Dispatcher& d, const Backward& b);
Tensor LdexpSelf(Dispatcher& d, const Backward& b);
Tensor LdexpOther(Dispatcher& d, const Backward& b);
Tensor Sqrt(Dispatcher& d, const Backward& b);
Tensor Rsqrt(Dispatcher& d, const Backward& b);
Tensor Reciprocal(Dispatcher& d, const Backward& b);

inline constexpr Gradient kPow{"PowBackward0", {GradientOf(0, {0}, Pow)}};
inline constexpr Gradient kPowTensors{
    "PowBackward1", {GradientOf(1, {0, 1, kResult}, PowExponent), GradientOf(0, {0, 1}, PowBase)}};
inline constexpr Gradient kPowOfNumber{"PowBackward2", {GradientOf(1, {1, kResult}, PowOfNumber)}};
inline constexpr Gradient kLdexp{
    "LdexpBackward0", {GradientOf(1, {kResult}, LdexpOther), GradientOf(0, {1}, LdexpSelf)}};
inline constexpr Gradient kSqrt{"SqrtBackward0", {GradientOf(0, {kResult}, Sqrt)}};
inline constexpr Gradient kRsqrt{"RsqrtBackward0", {GradientOf(0, {kResult}, Rsqrt)}};
inline constexpr Gradient kReciprocal{"ReciprocalBackward0",
                                      {GradientOf(0, {kResult}, Reciprocal)}};

}  // namespace steelyard::gradients
