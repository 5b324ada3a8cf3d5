// SPDX-License-Identifier: Apache-2.0
//
// Gradients of arithmetic on elements.
#pragma once

#include "ops/gradients/words.h"
#include "steelyard/gradient.h"

namespace steelyard::gradients {

Tensor AddOther(Dispatcher& d, const Backward& b);
Tensor AddSelf(Dispatcher& d, const Backward& b);
Tensor SubOther(Dispatcher& d, const Backward& b);
Tensor RsubSelf(Dispatcher& d, const Backward& b);
Tensor MulSelf(Dispatcher& d, const Backward& b);
Tensor MulOther(Dispatcher& d, const Backward& b);
Tensor DivSelf(Dispatcher& d, const Backward& b);
Tensor DivOther(Dispatcher& d, const Backward& b);
Tensor MulNumber(Dispatcher& d, const Backward& b);
Tensor DivNumber(Dispatcher& d, const Backward& b);
Tensor Pow(Dispatcher& d, const Backward& b);
Tensor TimesResult(Dispatcher& d, const Backward& b);
Tensor Sqrt(Dispatcher& d, const Backward& b);
Tensor Rsqrt(Dispatcher& d, const Backward& b);
Tensor Reciprocal(Dispatcher& d, const Backward& b);
Tensor Erf(Dispatcher& d, const Backward& b);
Tensor Log(Dispatcher& d, const Backward& b);
Tensor Sin(Dispatcher& d, const Backward& b);
Tensor Cos(Dispatcher& d, const Backward& b);
Tensor Abs(Dispatcher& d, const Backward& b);

inline constexpr Gradient kAdd{"AddBackward0",
                               {GradientOf(1, {}, AddOther), GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kSub{"SubBackward0",
                               {GradientOf(1, {}, SubOther), GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kRsub{"RsubBackward1", {GradientOf(0, {}, RsubSelf)}};
inline constexpr Gradient kMul{"MulBackward0",
                               {GradientOf(1, {0}, MulOther), GradientOf(0, {1}, MulSelf)}};
inline constexpr Gradient kDiv{"DivBackward0",
                               {GradientOf(1, {0, 1}, DivOther), GradientOf(0, {1}, DivSelf)}};
// Steps are flat.
inline constexpr Gradient kZero{"FloorBackward0", {GradientOf(0, {}, Zeros)}};
// Overloads for a Python number save nothing.
inline constexpr Gradient kAddNumber{"AddBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kSubNumber{"SubBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kMulNumber{"MulBackward1", {GradientOf(0, {}, MulNumber)}};
inline constexpr Gradient kDivNumber{"DivBackward1", {GradientOf(0, {}, DivNumber)}};
inline constexpr Gradient kNeg{"NegBackward0", {GradientOf(0, {}, Negated)}};
inline constexpr Gradient kPow{"PowBackward0", {GradientOf(0, {0}, Pow)}};
inline constexpr Gradient kExp{"ExpBackward0", {GradientOf(0, {kResult}, TimesResult)}};
inline constexpr Gradient kSqrt{"SqrtBackward0", {GradientOf(0, {kResult}, Sqrt)}};
inline constexpr Gradient kRsqrt{"RsqrtBackward0", {GradientOf(0, {kResult}, Rsqrt)}};
inline constexpr Gradient kReciprocal{"ReciprocalBackward0",
                                      {GradientOf(0, {kResult}, Reciprocal)}};
inline constexpr Gradient kErf{"ErfBackward0", {GradientOf(0, {0}, Erf)}};
inline constexpr Gradient kLog{"LogBackward0", {GradientOf(0, {0}, Log)}};
inline constexpr Gradient kSin{"SinBackward0", {GradientOf(0, {0}, Sin)}};
inline constexpr Gradient kCos{"CosBackward0", {GradientOf(0, {0}, Cos)}};
inline constexpr Gradient kAbs{"AbsBackward0", {GradientOf(0, {0}, Abs)}};

}  // namespace steelyard::gradients
