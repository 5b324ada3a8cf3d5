// SPDX-License-Identifier: Apache-2.0
//
// Gradients of activation functions, which have backward kernels of their own.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor CeluResult(Dispatcher& d, const Backward& b);
Tensor BelowThreshold(Dispatcher& d, const Backward& b);
Tensor ThresholdResult(Dispatcher& d, const Backward& b);
Tensor HardtanhSelf(Dispatcher& d, const Backward& b);
Tensor HardshrinkSelf(Dispatcher& d, const Backward& b);
Tensor SoftshrinkSelf(Dispatcher& d, const Backward& b);
Tensor LeakyReluSelf(Dispatcher& d, const Backward& b);
Tensor LeakyReluResult(Dispatcher& d, const Backward& b);
std::vector<Tensor> Prelu(Dispatcher& d, const Backward& b);
Tensor EluSelf(Dispatcher& d, const Backward& b);
Tensor EluResult(Dispatcher& d, const Backward& b);
Tensor CeluSelf(Dispatcher& d, const Backward& b);
Tensor GeluSelf(Dispatcher& d, const Backward& b);
Tensor GluSelf(Dispatcher& d, const Backward& b);
Tensor SoftplusSelf(Dispatcher& d, const Backward& b);
Tensor LogSigmoidSelf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kRelu{"ReluBackward0", {GradientOf(0, {kResult}, ThresholdResult)}};
inline constexpr Gradient kThreshold{"ThresholdBackward0", {GradientOf(0, {0}, BelowThreshold)}};
inline constexpr Gradient kThresholdInPlace{"ThresholdBackward1",
                                            {GradientOf(0, {0}, BelowThreshold)}};
inline constexpr Gradient kHardtanh{"HardtanhBackward0", {GradientOf(0, {0}, HardtanhSelf)}};
inline constexpr Gradient kHardshrink{"HardshrinkBackward0", {GradientOf(0, {0}, HardshrinkSelf)}};
inline constexpr Gradient kSoftshrink{"SoftshrinkBackward0", {GradientOf(0, {0}, SoftshrinkSelf)}};
inline constexpr Gradient kLeakyRelu{"LeakyReluBackward0", {GradientOf(0, {0}, LeakyReluSelf)}};
inline constexpr Gradient kLeakyReluInPlace{"LeakyReluBackward1",
                                            {GradientOf(0, {kResult}, LeakyReluResult)}};
inline constexpr Gradient kPrelu{"PreluKernelBackward0", {GradientsOf({0, 1}, {0, 1}, Prelu)}};
inline constexpr Gradient kElu{"EluBackward0", {GradientOf(0, {0}, EluSelf)}};
inline constexpr Gradient kEluInPlace{"EluBackward1", {GradientOf(0, {kResult}, EluResult)}};
inline constexpr Gradient kCelu{"CeluBackward0", {GradientOf(0, {0}, CeluSelf)}};
inline constexpr Gradient kCeluInPlace{"CeluBackward1", {GradientOf(0, {kResult}, CeluResult)}};
inline constexpr Gradient kTanh{"TanhBackward0",
                                {GradientOf(0, {kResult}, OfResult<"aten::tanh_backward">)}};
inline constexpr Gradient kSigmoid{"SigmoidBackward0",
                                   {GradientOf(0, {kResult}, OfResult<"aten::sigmoid_backward">)}};
inline constexpr Gradient kHardsigmoid{"HardsigmoidBackward0",
                                       {GradientOf(0, {0}, OfSelf<"aten::hardsigmoid_backward">)}};
inline constexpr Gradient kGelu{"GeluBackward0", {GradientOf(0, {0}, GeluSelf)}};
inline constexpr Gradient kSilu{"SiluBackward0",
                                {GradientOf(0, {0}, OfSelf<"aten::silu_backward">)}};
inline constexpr Gradient kHardswish{"HardswishBackward0",
                                     {GradientOf(0, {0}, OfSelf<"aten::hardswish_backward">)}};
inline constexpr Gradient kMish{"MishBackward0",
                                {GradientOf(0, {0}, OfSelf<"aten::mish_backward">)}};
inline constexpr Gradient kGlu{"GluBackward0", {GradientOf(0, {0}, GluSelf)}};
inline constexpr Gradient kSoftplus{"SoftplusBackward0", {GradientOf(0, {0}, SoftplusSelf)}};
inline constexpr Gradient kLogSigmoid =
    Gradient("LogSigmoidBackward0", {GradientOf(0, {0, ResultAt(1)}, LogSigmoidSelf)}).OnlyOf({0});

}  // namespace steelyard::gradients
