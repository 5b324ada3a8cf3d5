// SPDX-License-Identifier: Apache-2.0
//
// Gradients of trigonometric and hyperbolic functions, of their inverses, and of angles.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor ByDegree(Dispatcher& d, const Backward& b);
Tensor ByRadian(Dispatcher& d, const Backward& b);
Tensor Sin(Dispatcher& d, const Backward& b);
Tensor Cos(Dispatcher& d, const Backward& b);
Tensor Tan(Dispatcher& d, const Backward& b);
Tensor Asin(Dispatcher& d, const Backward& b);
Tensor Acos(Dispatcher& d, const Backward& b);
Tensor Atan(Dispatcher& d, const Backward& b);
std::vector<Tensor> Atan2(Dispatcher& d, const Backward& b);
Tensor Sinh(Dispatcher& d, const Backward& b);
Tensor Cosh(Dispatcher& d, const Backward& b);
Tensor Asinh(Dispatcher& d, const Backward& b);
Tensor Acosh(Dispatcher& d, const Backward& b);
Tensor Atanh(Dispatcher& d, const Backward& b);
Tensor Sinc(Dispatcher& d, const Backward& b);
Tensor HypotSelf(Dispatcher& d, const Backward& b);
Tensor HypotOther(Dispatcher& d, const Backward& b);

inline constexpr Gradient kSin{"SinBackward0", {GradientOf(0, {0}, Sin)}};
inline constexpr Gradient kCos{"CosBackward0", {GradientOf(0, {0}, Cos)}};
inline constexpr Gradient kTan{"TanBackward0", {GradientOf(0, {kResult}, Tan)}};
inline constexpr Gradient kAsin{"AsinBackward0", {GradientOf(0, {0}, Asin)}};
inline constexpr Gradient kAcos{"AcosBackward0", {GradientOf(0, {0}, Acos)}};
inline constexpr Gradient kAtan{"AtanBackward0", {GradientOf(0, {0}, Atan)}};
inline constexpr Gradient kAtan2{"Atan2Backward0", {GradientsOf({0, 1}, {0, 1}, Atan2)}};
inline constexpr Gradient kSinh{"SinhBackward0", {GradientOf(0, {0}, Sinh)}};
inline constexpr Gradient kCosh{"CoshBackward0", {GradientOf(0, {0}, Cosh)}};
inline constexpr Gradient kAsinh{"AsinhBackward0", {GradientOf(0, {0}, Asinh)}};
inline constexpr Gradient kAcosh{"AcoshBackward0", {GradientOf(0, {0}, Acosh)}};
inline constexpr Gradient kAtanh{"AtanhBackward0", {GradientOf(0, {0}, Atanh)}};
inline constexpr Gradient kSinc{"SincBackward0", {GradientOf(0, {0}, Sinc)}};
inline constexpr Gradient kHypot{
    "HypotBackward0",
    {GradientOf(1, {1, kResult}, HypotOther), GradientOf(0, {0, kResult}, HypotSelf)}};
inline constexpr Gradient kDeg2Rad{"Deg2RadBackward0", {GradientOf(0, {}, ByDegree)}};
inline constexpr Gradient kRad2Deg{"Rad2DegBackward0", {GradientOf(0, {}, ByRadian)}};

}  // namespace steelyard::gradients
