// SPDX-License-Identifier: Apache-2.0
//
// Gradients of exponentials and logarithms.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor TimesResult(Dispatcher& d, const Backward& b);
Tensor Exp2(Dispatcher& d, const Backward& b);
Tensor Expm1(Dispatcher& d, const Backward& b);
Tensor Log(Dispatcher& d, const Backward& b);
Tensor Log2(Dispatcher& d, const Backward& b);
Tensor Log10(Dispatcher& d, const Backward& b);
Tensor Log1p(Dispatcher& d, const Backward& b);
Tensor LogAddExpSelf(Dispatcher& d, const Backward& b);
Tensor LogAddExpOther(Dispatcher& d, const Backward& b);
Tensor LogAddExp2Self(Dispatcher& d, const Backward& b);
Tensor LogAddExp2Other(Dispatcher& d, const Backward& b);

inline constexpr Gradient kExp{"ExpBackward0", {GradientOf(0, {kResult}, TimesResult)}};
inline constexpr Gradient kExp2{"Exp2Backward0", {GradientOf(0, {kResult}, Exp2)}};
inline constexpr Gradient kExpm1{"Expm1Backward0", {GradientOf(0, {kResult}, Expm1)}};
inline constexpr Gradient kLog{"LogBackward0", {GradientOf(0, {0}, Log)}};
inline constexpr Gradient kLog2{"Log2Backward0", {GradientOf(0, {0}, Log2)}};
inline constexpr Gradient kLog10{"Log10Backward0", {GradientOf(0, {0}, Log10)}};
inline constexpr Gradient kLog1p{"Log1PBackward0", {GradientOf(0, {0}, Log1p)}};
inline constexpr Gradient kLogAddExp{
    "LogaddexpBackward0",
    {GradientOf(1, {0, 1}, LogAddExpOther), GradientOf(0, {0, 1}, LogAddExpSelf)}};
inline constexpr Gradient kLogAddExp2{
    "Logaddexp2Backward0",
    {GradientOf(1, {0, 1}, LogAddExp2Other), GradientOf(0, {0, 1}, LogAddExp2Self)}};

}  // namespace steelyard::gradients
