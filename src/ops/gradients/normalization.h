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
std::vector<Tensor> CudnnBatchNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchNormOfBatch(Dispatcher& d, const Backward& b);
std::vector<Tensor> GroupNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> RootNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> WeightNorm(Dispatcher& d, const Backward& b);

inline constexpr Derivative kOfBatchNorm =
    GradientsOf({0, 1, 2}, {0, 1, 3, 4, ResultAt(1), ResultAt(2)}, BatchNorm);
inline constexpr Gradient kBatchNorm =
    Gradient("NativeBatchNormBackward0", {kOfBatchNorm}).OnlyOf({0});
inline constexpr Gradient kBatchNormLegit =
    Gradient("NativeBatchNormLegitBackward0", {kOfBatchNorm}).OnlyOf({0});
inline constexpr Gradient kCudnnBatchNorm =
    Gradient("CudnnBatchNormBackward0",
             {GradientsOf({0, 1, 2}, {0, 1, 3, 4, ResultAt(1), ResultAt(2), ResultAt(3)},
                          CudnnBatchNorm)})
        .OnlyOf({0});
inline constexpr Gradient kBatchNormOfBatch =
    Gradient("NativeBatchNormLegitBackward1",
             {GradientsOf({0, 1, 2}, {0, 1, ResultAt(1), ResultAt(2)}, BatchNormOfBatch)})
        .OnlyOf({0});
inline constexpr Gradient kGroupNorm{
    "NativeGroupNormBackward0",
    {GradientsOf({0, 1, 2}, {0, 1, ResultAt(1), ResultAt(2)}, GroupNorm)}};
inline constexpr Gradient kRootNorm{"FusedRmsNormBackward0",
                                    {GradientsOf({0, 2}, {0, 2, ResultAt(1)}, RootNorm)}};
inline constexpr Gradient kWeightNorm =
    Gradient("WeightNormInterfaceBackward0", {GradientsOf({0, 1}, {0, 1, ResultAt(1)}, WeightNorm)})
        .OnlyOf({0});

}  // namespace steelyard::gradients
