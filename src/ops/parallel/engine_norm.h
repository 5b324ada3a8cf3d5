// SPDX-License-Identifier: Apache-2.0
//
// What DeepSpeed's engine asks of the norm of gradients, in all stages of ZeRO.
#pragma once

#include "ops/dispatch/dispatcher.h"
#include "ops/optimizers/step.h"

namespace steelyard::ops {

// deepspeed.runtime.utils.is_invalid_grad_norm
void AskWhetherInvalid(Dispatcher& d, const Tensor& norm);
// deepspeed.runtime.utils.combine_grad_norm_groups
Tensor CombineNorms(Dispatcher& d, const Tensors& norms);
// unscale_and_clip_grads, where gradients are clipped: the norm decides by how much.
void ScaleByNorm(Dispatcher& d, const Tensor& gradient, const Tensor& norm);

}  // namespace steelyard::ops
