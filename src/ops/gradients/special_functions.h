// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the functions of torch.special: of errors and distributions, gamma and zeta, Bessel,
// and entropy.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor Erf(Dispatcher& d, const Backward& b);
Tensor Erfc(Dispatcher& d, const Backward& b);
Tensor Erfinv(Dispatcher& d, const Backward& b);
Tensor ScaledErfc(Dispatcher& d, const Backward& b);
Tensor LogNormalDistribution(Dispatcher& d, const Backward& b);
Tensor NormalQuantile(Dispatcher& d, const Backward& b);
Tensor Entropy(Dispatcher& d, const Backward& b);
Tensor LogitSelf(Dispatcher& d, const Backward& b);
Tensor Lgamma(Dispatcher& d, const Backward& b);
Tensor Digamma(Dispatcher& d, const Backward& b);
Tensor PolygammaSelf(Dispatcher& d, const Backward& b);
Tensor MultivariateGamma(Dispatcher& d, const Backward& b);
Tensor IncompleteGammaOther(Dispatcher& d, const Backward& b);
Tensor ComplementedGammaOther(Dispatcher& d, const Backward& b);
Tensor ZetaOther(Dispatcher& d, const Backward& b);
Tensor Bessel(Dispatcher& d, const Backward& b);
Tensor BesselOne(Dispatcher& d, const Backward& b);
Tensor BesselJZero(Dispatcher& d, const Backward& b);
Tensor BesselJOne(Dispatcher& d, const Backward& b);
Tensor BesselYZero(Dispatcher& d, const Backward& b);
Tensor BesselYOne(Dispatcher& d, const Backward& b);
Tensor ScaledBessel(Dispatcher& d, const Backward& b);
Tensor ScaledBesselOne(Dispatcher& d, const Backward& b);
Tensor XlogySelf(Dispatcher& d, const Backward& b);
Tensor XlogyOther(Dispatcher& d, const Backward& b);
Tensor XlogyOfNumber(Dispatcher& d, const Backward& b);
Tensor XlogyByNumber(Dispatcher& d, const Backward& b);
Tensor Xlog1pySelf(Dispatcher& d, const Backward& b);
Tensor Xlog1pyOther(Dispatcher& d, const Backward& b);
Tensor Xlog1pyOfNumber(Dispatcher& d, const Backward& b);
Tensor Xlog1pyByNumber(Dispatcher& d, const Backward& b);

// The numbers 1 - p / 2 up to 1/2 in halves, added to each element (mvlgamma).
Tensor GammaArguments(Dispatcher& d, const Tensor& self, std::int64_t p);

inline constexpr Gradient kErf{"ErfBackward0", {GradientOf(0, {0}, Erf)}};
inline constexpr Gradient kErfc{"ErfcBackward0", {GradientOf(0, {0}, Erfc)}};
inline constexpr Gradient kErfinv{"ErfinvBackward0", {GradientOf(0, {0}, Erfinv)}};
inline constexpr Gradient kScaledErfc{"SpecialErfcxBackward0",
                                      {GradientOf(0, {0, kResult}, ScaledErfc)}};
inline constexpr Gradient kLogNormalDistribution{
    "SpecialLogNdtrBackward0", {GradientOf(0, {0, kResult}, LogNormalDistribution)}};
inline constexpr Gradient kNormalQuantile{"SpecialNdtriBackward0",
                                          {GradientOf(0, {kResult}, NormalQuantile)}};
inline constexpr Gradient kEntropy{"SpecialEntrBackward0", {GradientOf(0, {0}, Entropy)}};
inline constexpr Gradient kLogit{"LogitBackward0", {GradientOf(0, {0}, LogitSelf)}};
inline constexpr Gradient kLgamma{"LgammaBackward0", {GradientOf(0, {0}, Lgamma)}};
inline constexpr Gradient kDigamma{"DigammaBackward0", {GradientOf(0, {0}, Digamma)}};
inline constexpr Gradient kPolygamma{"PolygammaBackward0", {GradientOf(1, {1}, PolygammaSelf)}};
inline constexpr Gradient kMultivariateGamma{"MvlgammaBackward0",
                                             {GradientOf(0, {0}, MultivariateGamma)}};
// PyTorch has no formula for their first operands, and raises where one is needed.
inline constexpr Gradient kZeta{
    "SpecialZetaBackward0", {GradientOf(1, {0, 1}, ZetaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kIncompleteGamma{
    "IgammaBackward0",
    {GradientOf(1, {0, 1}, IncompleteGammaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kComplementedGamma{
    "IgammacBackward0",
    {GradientOf(1, {0, 1}, ComplementedGammaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kBessel{"I0Backward0", {GradientOf(0, {0}, Bessel)}};
inline constexpr Gradient kBesselOne{"SpecialI1Backward0",
                                     {GradientOf(0, {0, kResult}, BesselOne)}};
inline constexpr Gradient kBesselJZero{"SpecialBesselJ0Backward0",
                                       {GradientOf(0, {0}, BesselJZero)}};
inline constexpr Gradient kBesselJOne{"SpecialBesselJ1Backward0",
                                      {GradientOf(0, {0, kResult}, BesselJOne)}};
inline constexpr Gradient kBesselYZero{"SpecialBesselY0Backward0",
                                       {GradientOf(0, {0}, BesselYZero)}};
inline constexpr Gradient kBesselYOne{"SpecialBesselY1Backward0",
                                      {GradientOf(0, {0, kResult}, BesselYOne)}};
inline constexpr Gradient kScaledBessel{"SpecialI0EBackward0",
                                        {GradientOf(0, {0, kResult}, ScaledBessel)}};
inline constexpr Gradient kScaledBesselOne{"SpecialI1EBackward0",
                                           {GradientOf(0, {0, kResult}, ScaledBesselOne)}};
inline constexpr Gradient kXlogy{
    "XlogyBackward0", {GradientOf(1, {0, 1}, XlogyOther), GradientOf(0, {0, 1}, XlogySelf)}};
inline constexpr Gradient kXlogyByNumber{"XlogyBackward1", {GradientOf(1, {1}, XlogyByNumber)}};
inline constexpr Gradient kXlogyOfNumber{"XlogyBackward2", {GradientOf(0, {0}, XlogyOfNumber)}};
inline constexpr Gradient kXlog1py{
    "SpecialXlog1PyBackward0",
    {GradientOf(1, {0, 1}, Xlog1pyOther), GradientOf(0, {0, 1}, Xlog1pySelf)}};
inline constexpr Gradient kXlog1pyOfNumber{"SpecialXlog1PyBackward1",
                                           {GradientOf(1, {1}, Xlog1pyOfNumber)}};
inline constexpr Gradient kXlog1pyByNumber{"SpecialXlog1PyBackward2",
                                           {GradientOf(0, {0}, Xlog1pyByNumber)}};

}  // namespace steelyard::gradients
