// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of losses, for penalties on gradients.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor CrossEntropyGradOutput(Dispatcher& d, const Backward& b);
Tensor CrossEntropyTwice(Dispatcher& d, const Backward& b);
Tensor CrossEntropyTargetTwice(Dispatcher& d, const Backward& b);
Tensor SquaredErrorGradOutput(Dispatcher& d, const Backward& b);
Tensor SquaredErrorTwice(Dispatcher& d, const Backward& b);
Tensor SquaredErrorTargetTwice(Dispatcher& d, const Backward& b);
Tensor SmoothErrorGradOutput(Dispatcher& d, const Backward& b);
Tensor SmoothErrorTwice(Dispatcher& d, const Backward& b);
Tensor SmoothErrorTargetTwice(Dispatcher& d, const Backward& b);
Tensor HuberGradOutput(Dispatcher& d, const Backward& b);
Tensor HuberTwice(Dispatcher& d, const Backward& b);
Tensor HuberTargetTwice(Dispatcher& d, const Backward& b);
Tensor SoftMarginGradOutput(Dispatcher& d, const Backward& b);
Tensor SoftMarginTwice(Dispatcher& d, const Backward& b);
Tensor LikelihoodGradOutput(Dispatcher& d, const Backward& b);
Tensor Likelihood2dGradOutput(Dispatcher& d, const Backward& b);

inline constexpr Gradient kCrossEntropyBackward{
    "BinaryCrossEntropyBackwardBackward0",
    {GradientOf(0, {0, 1, 2, 3}, CrossEntropyGradOutput),
     GradientOf(1, {0, 1, 2, 3}, CrossEntropyTwice),
     GradientOf(2, {0, 1, 2, 3}, CrossEntropyTargetTwice)}};
inline constexpr Gradient kSquaredErrorBackward{
    "MseLossBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, SquaredErrorGradOutput), GradientOf(1, {0, 1, 2}, SquaredErrorTwice),
     GradientOf(2, {0, 1, 2}, SquaredErrorTargetTwice)}};
inline constexpr Gradient kSmoothErrorBackward{
    "SmoothL1LossBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, SmoothErrorGradOutput), GradientOf(1, {0, 1, 2}, SmoothErrorTwice),
     GradientOf(2, {0, 1, 2}, SmoothErrorTargetTwice)}};
inline constexpr Gradient kHuberBackward{
    "HuberLossBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, HuberGradOutput), GradientOf(1, {0, 1, 2}, HuberTwice),
     GradientOf(2, {0, 1, 2}, HuberTargetTwice)}};
inline constexpr Gradient kSoftMarginBackward{
    "SoftMarginLossBackwardBackward0",
    {GradientOf(0, {0, 1, 2}, SoftMarginGradOutput), GradientOf(1, {0, 1, 2}, SoftMarginTwice)}};
inline constexpr Gradient kLikelihoodBackward{
    "NllLossBackwardBackward0",
    {GradientOf(0, {2, 3}, LikelihoodGradOutput), GradientOf(1, {2, 3}, Zeros)}};
inline constexpr Gradient kLikelihood2dBackward{
    "NllLoss2DBackwardBackward0",
    {GradientOf(0, {2, 3}, Likelihood2dGradOutput), GradientOf(1, {2, 3}, Zeros)}};

}  // namespace steelyard::gradients
