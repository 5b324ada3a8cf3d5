// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the normalizations of images.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> BatchNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchNormOfBatch(Dispatcher& d, const Backward& b);
std::vector<Tensor> GroupNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> RootNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> WeightNorm(Dispatcher& d, const Backward& b);

inline constexpr Derivative kOfBatchNorm =
    GradientsOf({0, 1, 2}, {0, 1, 3, 4, ResultAt(1), ResultAt(2)}, BatchNorm);
inline constexpr Gradient kBatchNorm{"NativeBatchNormBackward0", {kOfBatchNorm}};
inline constexpr Gradient kBatchNormLegit{"NativeBatchNormLegitBackward0", {kOfBatchNorm}};
inline constexpr Gradient kBatchNormOfBatch{
    "NativeBatchNormLegitBackward1",
    {GradientsOf({0, 1, 2}, {0, 1, ResultAt(1), ResultAt(2)}, BatchNormOfBatch)}};
inline constexpr Gradient kGroupNorm{
    "NativeGroupNormBackward0",
    {GradientsOf({0, 1, 2}, {0, 1, ResultAt(1), ResultAt(2)}, GroupNorm)}};
inline constexpr Gradient kRootNorm{"FusedRmsNormBackward0",
                                    {GradientsOf({0, 2}, {0, 2, ResultAt(1)}, RootNorm)}};
inline constexpr Gradient kWeightNorm{"WeightNormInterfaceBackward0",
                                      {GradientsOf({0, 1}, {0, 1, ResultAt(1)}, WeightNorm)}};

}  // namespace steelyard::gradients
