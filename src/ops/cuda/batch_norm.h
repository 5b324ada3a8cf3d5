// SPDX-License-Identifier: Apache-2.0
//
// ATen's own batch norms on CUDA (aten/src/ATen/native/cuda/Normalization.cu): statistics of
// channels that lie side by side are added up by several blocks of threads.
#pragma once

#include "ops/op_def.h"

namespace steelyard::cuda {

// input, weight, bias, running_mean, running_var, training, momentum, eps
void BatchNorm(const OpView& op, Allocations& memory);

// grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask
void BatchNormGradients(const OpView& op, Allocations& memory);
// Whether kernels walk the image channels last.
bool WalksChannelsLast(const TensorView& image);
// Whether one kernel sums for the gradients of both parameters, whichever is wanted.
bool SumsChannelsLast(const OpView& op);

}  // namespace steelyard::cuda
