// SPDX-License-Identifier: Apache-2.0
//
// What normalizations and their backward kernels have in common.
#pragma once

#include <initializer_list>

#include "ops/op_def.h"

namespace steelyard::normalization {

// The dtype in which a kernel of `dtype` adds up.
DType AccumulateType(DType dtype);

// Statistics have the input's dtype, unless parameters of another make them float32. Refuses
// parameters that no kernel of the CPU takes with this input.
DType StatisticsType(const TensorView& input, std::initializer_list<TensorView> parameters);

// Row-major or channels-last without gaps: kernels read it as it lies.
bool IsDenseImage(const TensorView& image);

// Whether the channels of a dense image lie side by side. Images of one pixel are read like
// channels-last ones.
bool ChannelsAreAdjacent(const TensorView& image);

// Whether cuDNN normalizes a batch on CUDA: of batch_norm's arguments (input, weight, bias,
// running_mean, running_var, training, momentum, eps, cudnn_enabled, which it does not look at).
bool UsesCudnn(const OpView& op);

}  // namespace steelyard::normalization
