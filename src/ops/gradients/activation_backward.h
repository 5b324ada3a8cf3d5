// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of activation functions, for penalties on gradients. Of a
// backward kernel PyTorch saves what any of its formulas needs, whichever gradient is wanted.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor PreluGradOutput(Dispatcher& d, const Backward& b);
Tensor PreluBackwardSelf(Dispatcher& d, const Backward& b);
Tensor PreluBackwardWeight(Dispatcher& d, const Backward& b);
Tensor RreluGradOutput(Dispatcher& d, const Backward& b);
Tensor ThresholdGradOutput(Dispatcher& d, const Backward& b);
Tensor GeluGradOutput(Dispatcher& d, const Backward& b);
Tensor GeluTwice(Dispatcher& d, const Backward& b);
Tensor TanhGradOutput(Dispatcher& d, const Backward& b);
Tensor TanhOutput(Dispatcher& d, const Backward& b);
Tensor SigmoidGradOutput(Dispatcher& d, const Backward& b);
Tensor SigmoidOutput(Dispatcher& d, const Backward& b);
Tensor EluGradOutput(Dispatcher& d, const Backward& b);
Tensor EluTwice(Dispatcher& d, const Backward& b);
Tensor HardtanhGradOutput(Dispatcher& d, const Backward& b);
Tensor HardswishGradOutput(Dispatcher& d, const Backward& b);
Tensor HardswishTwice(Dispatcher& d, const Backward& b);
Tensor LeakyReluGradOutput(Dispatcher& d, const Backward& b);
Tensor HardshrinkGradOutput(Dispatcher& d, const Backward& b);
Tensor SoftshrinkGradOutput(Dispatcher& d, const Backward& b);
Tensor GluGradOutput(Dispatcher& d, const Backward& b);
Tensor GluTwice(Dispatcher& d, const Backward& b);
Tensor SoftplusGradOutput(Dispatcher& d, const Backward& b);
Tensor SoftplusTwice(Dispatcher& d, const Backward& b);
Tensor LogSigmoidGradOutput(Dispatcher& d, const Backward& b);
Tensor LogSigmoidTwice(Dispatcher& d, const Backward& b);
Tensor SoftmaxGradOutput(Dispatcher& d, const Backward& b);
Tensor SoftmaxOutput(Dispatcher& d, const Backward& b);
Tensor LogSoftmaxGradOutput(Dispatcher& d, const Backward& b);
Tensor LogSoftmaxOutput(Dispatcher& d, const Backward& b);

inline constexpr Gradient kPreluBackward{
    "PreluKernelBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, PreluGradOutput), GradientOf(1, {0, 1, 2}, PreluBackwardSelf),
     GradientOf(2, {0, 1, 2}, PreluBackwardWeight)}};
inline constexpr Gradient kRreluBackward{
    "RreluWithNoiseBackwardBackward0",
    {GradientOf(0, {1, 2}, RreluGradOutput), GradientOf(1, {1, 2}, Zeros)}};
inline constexpr Gradient kThresholdBackward{
    "ThresholdBackwardBackward0",
    {GradientOf(0, {1}, ThresholdGradOutput), GradientOf(1, {1}, Zeros)}};
inline constexpr Gradient kGeluBackward{
    "GeluBackwardBackward0",
    {GradientOf(0, {0, 1}, GeluGradOutput), GradientOf(1, {0, 1}, GeluTwice)}};
inline constexpr Gradient kTanhBackward{
    "TanhBackwardBackward0",
    {GradientOf(0, {0, 1}, TanhGradOutput), GradientOf(1, {0, 1}, TanhOutput)}};
inline constexpr Gradient kSigmoidBackward{
    "SigmoidBackwardBackward0",
    {GradientOf(0, {0, 1}, SigmoidGradOutput), GradientOf(1, {0, 1}, SigmoidOutput)}};
inline constexpr Gradient kEluBackward{
    "EluBackwardBackward0",
    {GradientOf(0, {0, 5}, EluGradOutput), GradientOf(5, {0, 5}, EluTwice)}};
inline constexpr Gradient kHardtanhBackward{
    "HardtanhBackwardBackward0",
    {GradientOf(0, {1}, HardtanhGradOutput), GradientOf(1, {1}, Zeros)}};
inline constexpr Gradient kHardswishBackward{
    "HardswishBackwardBackward0",
    {GradientOf(0, {0, 1}, HardswishGradOutput), GradientOf(1, {0, 1}, HardswishTwice)}};
inline constexpr Gradient kLeakyReluBackward{
    "LeakyReluBackwardBackward0",
    {GradientOf(0, {1}, LeakyReluGradOutput), GradientOf(1, {1}, Zeros)}};
inline constexpr Gradient kHardshrinkBackward{
    "HardshrinkBackwardBackward0",
    {GradientOf(0, {1}, HardshrinkGradOutput), GradientOf(1, {1}, Zeros)}};
inline constexpr Gradient kSoftshrinkBackward{
    "SoftshrinkBackwardBackward0",
    {GradientOf(0, {1}, SoftshrinkGradOutput), GradientOf(1, {1}, Zeros)}};
inline constexpr Gradient kGluBackward{
    "GluBackwardBackward0",
    {GradientOf(0, {0, 1}, GluGradOutput), GradientOf(1, {0, 1}, GluTwice)}};
inline constexpr Gradient kSoftplusBackward{
    "SoftplusBackwardBackward0",
    {GradientOf(0, {0, 1}, SoftplusGradOutput), GradientOf(1, {0, 1}, SoftplusTwice)}};
inline constexpr Gradient kLogSigmoidBackward{
    "LogSigmoidBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, LogSigmoidGradOutput), GradientOf(1, {0, 1, 2}, LogSigmoidTwice)}};
inline constexpr Gradient kSoftmaxBackward{
    "SoftmaxBackwardDataBackward0",
    {GradientOf(0, {0, 1}, SoftmaxGradOutput), GradientOf(1, {0, 1}, SoftmaxOutput)}};
inline constexpr Gradient kLogSoftmaxBackward{
    "LogSoftmaxBackwardDataBackward0",
    {GradientOf(0, {0, 1}, LogSoftmaxGradOutput), GradientOf(1, {0, 1}, LogSoftmaxOutput)}};

}  // namespace steelyard::gradients
