// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a table of embeddings on CUDA: of many indices it is found by sorting them
// (ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu).
#pragma once

#include "ops/op_def.h"

namespace steelyard::cuda {

// grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
void EmbeddingGradient(const OpView& op, Allocations& memory);

// grad, indices, num_weights, scale_grad_by_freq: of what was added up in bags (EmbeddingBag.cu)
void BagGradient(const OpView& op, Allocations& memory);

}  // namespace steelyard::cuda
