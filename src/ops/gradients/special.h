// SPDX-License-Identifier: Apache-2.0
//
// Gradients of special functions and of less common arithmetic on elements.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/elementwise.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor Acos(Dispatcher& d, const Backward& b);
Tensor Asin(Dispatcher& d, const Backward& b);
Tensor Sinh(Dispatcher& d, const Backward& b);
Tensor Cosh(Dispatcher& d, const Backward& b);
Tensor Acosh(Dispatcher& d, const Backward& b);
Tensor Asinh(Dispatcher& d, const Backward& b);
Tensor Atanh(Dispatcher& d, const Backward& b);
Tensor Sinc(Dispatcher& d, const Backward& b);
Tensor Erfc(Dispatcher& d, const Backward& b);
Tensor Erfinv(Dispatcher& d, const Backward& b);
Tensor Lgamma(Dispatcher& d, const Backward& b);
Tensor Digamma(Dispatcher& d, const Backward& b);
Tensor Bessel(Dispatcher& d, const Backward& b);
Tensor HardshrinkSelf(Dispatcher& d, const Backward& b);
Tensor SoftshrinkSelf(Dispatcher& d, const Backward& b);
Tensor WhereFinite(Dispatcher& d, const Backward& b);
Tensor FmodOther(Dispatcher& d, const Backward& b);
Tensor FmaxSelf(Dispatcher& d, const Backward& b);
Tensor FmaxOther(Dispatcher& d, const Backward& b);
Tensor FminSelf(Dispatcher& d, const Backward& b);
Tensor FminOther(Dispatcher& d, const Backward& b);
Tensor HypotSelf(Dispatcher& d, const Backward& b);
Tensor HypotOther(Dispatcher& d, const Backward& b);
Tensor LogAddExpSelf(Dispatcher& d, const Backward& b);
Tensor LogAddExpOther(Dispatcher& d, const Backward& b);
Tensor LogAddExp2Self(Dispatcher& d, const Backward& b);
Tensor LogAddExp2Other(Dispatcher& d, const Backward& b);
Tensor CopysignSelf(Dispatcher& d, const Backward& b);
Tensor CopysignOther(Dispatcher& d, const Backward& b);
Tensor PolygammaSelf(Dispatcher& d, const Backward& b);
Tensor BesselOne(Dispatcher& d, const Backward& b);
std::vector<Tensor> ClampBounds(Dispatcher& d, const Backward& b);
Tensor ClampByTensors(Dispatcher& d, const Backward& b);
Tensor LerpByTensorSelf(Dispatcher& d, const Backward& b);
Tensor LerpByTensorEnd(Dispatcher& d, const Backward& b);
Tensor LerpWeight(Dispatcher& d, const Backward& b);

inline constexpr Gradient kAcos{"AcosBackward0", {GradientOf(0, {0}, Acos)}};
inline constexpr Gradient kAsin{"AsinBackward0", {GradientOf(0, {0}, Asin)}};
inline constexpr Gradient kSinh{"SinhBackward0", {GradientOf(0, {0}, Sinh)}};
inline constexpr Gradient kCosh{"CoshBackward0", {GradientOf(0, {0}, Cosh)}};
inline constexpr Gradient kAcosh{"AcoshBackward0", {GradientOf(0, {0}, Acosh)}};
inline constexpr Gradient kAsinh{"AsinhBackward0", {GradientOf(0, {0}, Asinh)}};
inline constexpr Gradient kAtanh{"AtanhBackward0", {GradientOf(0, {0}, Atanh)}};
inline constexpr Gradient kSinc{"SincBackward0", {GradientOf(0, {0}, Sinc)}};
inline constexpr Gradient kErfc{"ErfcBackward0", {GradientOf(0, {0}, Erfc)}};
inline constexpr Gradient kErfinv{"ErfinvBackward0", {GradientOf(0, {0}, Erfinv)}};
inline constexpr Gradient kLgamma{"LgammaBackward0", {GradientOf(0, {0}, Lgamma)}};
inline constexpr Gradient kDigamma{"DigammaBackward0", {GradientOf(0, {0}, Digamma)}};
inline constexpr Gradient kBessel{"I0Backward0", {GradientOf(0, {0}, Bessel)}};
inline constexpr Gradient kBesselOne{"SpecialI1Backward0",
                                     {GradientOf(0, {0, kResult}, BesselOne)}};
inline constexpr Gradient kPolygamma{"PolygammaBackward0", {GradientOf(1, {1}, PolygammaSelf)}};
inline constexpr Gradient kClampByTensors{
    "ClampBackward0",
    {GradientsOf({1, 2}, {0, 1, 2}, ClampBounds), GradientOf(0, {0, 1, 2}, ClampByTensors)}};
inline constexpr Gradient kFrac{"FracBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kHardshrink{"HardshrinkBackward0", {GradientOf(0, {0}, HardshrinkSelf)}};
inline constexpr Gradient kSoftshrink{"SoftshrinkBackward0", {GradientOf(0, {0}, SoftshrinkSelf)}};
inline constexpr Gradient kNanToNum{"NanToNumBackward0", {GradientOf(0, {0}, WhereFinite)}};
inline constexpr Gradient kFmod{"FmodBackward1",
                                {GradientOf(1, {0, 1}, FmodOther), GradientOf(0, {}, Same)}};
inline constexpr Gradient kFmodNumber{"FmodBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kFmax{
    "FmaxBackward0", {GradientOf(1, {0, 1}, FmaxOther), GradientOf(0, {0, 1}, FmaxSelf)}};
inline constexpr Gradient kFmin{
    "FminBackward0", {GradientOf(1, {0, 1}, FminOther), GradientOf(0, {0, 1}, FminSelf)}};
inline constexpr Gradient kHypot{
    "HypotBackward0",
    {GradientOf(1, {1, kResult}, HypotOther), GradientOf(0, {0, kResult}, HypotSelf)}};
inline constexpr Gradient kLogAddExp{
    "LogaddexpBackward0",
    {GradientOf(1, {0, 1}, LogAddExpOther), GradientOf(0, {0, 1}, LogAddExpSelf)}};
inline constexpr Gradient kLogAddExp2{
    "Logaddexp2Backward0",
    {GradientOf(1, {0, 1}, LogAddExp2Other), GradientOf(0, {0, 1}, LogAddExp2Self)}};
inline constexpr Gradient kCopysign{
    "CopysignBackward0",
    {GradientOf(1, {}, CopysignOther), GradientOf(0, {0, kResult}, CopysignSelf)}};
inline constexpr Gradient kCopysignNumber{"CopysignBackward1",
                                          {GradientOf(0, {0, kResult}, CopysignSelf)}};
inline constexpr Gradient kClampMinByTensor{
    "ClampMinBackward1", {GradientOf(1, {0, 1}, WhereGreater), GradientOf(0, {0, 1}, WhereLess)}};
inline constexpr Gradient kClampMaxByTensor{
    "ClampMaxBackward1", {GradientOf(1, {0, 1}, WhereLess), GradientOf(0, {0, 1}, WhereGreater)}};
inline constexpr Gradient kLerpByTensor{
    "LerpBackward1",
    {GradientOf(1, {2}, LerpByTensorEnd), GradientOf(0, {2}, LerpByTensorSelf),
     GradientOf(2, {0, 1}, LerpWeight)}};

}  // namespace steelyard::gradients
