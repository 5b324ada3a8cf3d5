// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the functions of torch.special.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor Entropy(Dispatcher& d, const Backward& b);
Tensor ScaledErfc(Dispatcher& d, const Backward& b);
Tensor ScaledBessel(Dispatcher& d, const Backward& b);
Tensor ScaledBesselOne(Dispatcher& d, const Backward& b);
Tensor LogNormalDistribution(Dispatcher& d, const Backward& b);
Tensor NormalQuantile(Dispatcher& d, const Backward& b);
Tensor ZetaOther(Dispatcher& d, const Backward& b);
Tensor IncompleteGammaOther(Dispatcher& d, const Backward& b);
Tensor ComplementedGammaOther(Dispatcher& d, const Backward& b);
Tensor Xlog1pySelf(Dispatcher& d, const Backward& b);
Tensor Xlog1pyOther(Dispatcher& d, const Backward& b);
Tensor Xlog1pyOfNumber(Dispatcher& d, const Backward& b);
Tensor Xlog1pyByNumber(Dispatcher& d, const Backward& b);
Tensor MultivariateGamma(Dispatcher& d, const Backward& b);

// The numbers 1 - p / 2 up to 1/2 in halves, added to each element (mvlgamma).
Tensor GammaArguments(Dispatcher& d, const Tensor& self, std::int64_t p);

inline constexpr Gradient kEntropy{"SpecialEntrBackward0", {GradientOf(0, {0}, Entropy)}};
inline constexpr Gradient kScaledErfc{"SpecialErfcxBackward0",
                                      {GradientOf(0, {0, kResult}, ScaledErfc)}};
inline constexpr Gradient kScaledBessel{"SpecialI0EBackward0",
                                        {GradientOf(0, {0, kResult}, ScaledBessel)}};
inline constexpr Gradient kScaledBesselOne{"SpecialI1EBackward0",
                                           {GradientOf(0, {0, kResult}, ScaledBesselOne)}};
inline constexpr Gradient kLogNormalDistribution{
    "SpecialLogNdtrBackward0", {GradientOf(0, {0, kResult}, LogNormalDistribution)}};
inline constexpr Gradient kNormalQuantile{"SpecialNdtriBackward0",
                                          {GradientOf(0, {kResult}, NormalQuantile)}};
// PyTorch has no formula for their first operands, and raises where one is needed.
inline constexpr Gradient kZeta{
    "SpecialZetaBackward0", {GradientOf(1, {0, 1}, ZetaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kIncompleteGamma{
    "IgammaBackward0",
    {GradientOf(1, {0, 1}, IncompleteGammaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kComplementedGamma{
    "IgammacBackward0",
    {GradientOf(1, {0, 1}, ComplementedGammaOther), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kXlog1py{
    "SpecialXlog1PyBackward0",
    {GradientOf(1, {0, 1}, Xlog1pyOther), GradientOf(0, {0, 1}, Xlog1pySelf)}};
inline constexpr Gradient kXlog1pyOfNumber{"SpecialXlog1PyBackward1",
                                           {GradientOf(1, {1}, Xlog1pyOfNumber)}};
inline constexpr Gradient kXlog1pyByNumber{"SpecialXlog1PyBackward2",
                                           {GradientOf(0, {0}, Xlog1pyByNumber)}};
inline constexpr Gradient kMultivariateGamma{"MvlgammaBackward0",
                                             {GradientOf(0, {0}, MultivariateGamma)}};

}  // namespace steelyard::gradients
