// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions and softmax.
#pragma once

#include "steelyard/gradient.h"

namespace steelyard::gradients {

Tensor SumSelf(Dispatcher& d, const Backward& b);
Tensor SumDimSelf(Dispatcher& d, const Backward& b);
Tensor MeanSelf(Dispatcher& d, const Backward& b);
Tensor MeanDimSelf(Dispatcher& d, const Backward& b);
Tensor SoftmaxSelf(Dispatcher& d, const Backward& b);
Tensor LogSoftmaxSelf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kSum{"SumBackward0", {GradientOf(0, {}, SumSelf)}};
inline constexpr Gradient kSumDim{"SumBackward1", {GradientOf(0, {}, SumDimSelf)}};
inline constexpr Gradient kMean{"MeanBackward0", {GradientOf(0, {}, MeanSelf)}};
inline constexpr Gradient kMeanDim{"MeanBackward1", {GradientOf(0, {}, MeanDimSelf)}};
inline constexpr Gradient kSoftmax{"SoftmaxBackward0", {GradientOf(0, {kResult}, SoftmaxSelf)}};
inline constexpr Gradient kSafeSoftmax{"SafeSoftmaxBackward0",
                                       {GradientOf(0, {kResult}, SoftmaxSelf)}};
inline constexpr Gradient kLogSoftmax{"LogSoftmaxBackward0",
                                      {GradientOf(0, {kResult}, LogSoftmaxSelf)}};

}  // namespace steelyard::gradients
