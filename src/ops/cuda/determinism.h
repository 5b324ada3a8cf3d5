// SPDX-License-Identifier: Apache-2.0
//
// Kernels on CUDA that add in whatever order their threads come, and of which PyTorch has no other:
// under torch.use_deterministic_algorithms it raises (at::Context::alertNotDeterministic).
#pragma once

#include "ops/op_def.h"

namespace steelyard::cuda {

void RefuseWhereDeterministic(const OpView& op);

// The shape rule of such a kernel.
template <ShapeFn kShape>
void Unordered(const OpView& op, Outputs& out) {
  RefuseWhereDeterministic(op);
  kShape(op, out);
}

}  // namespace steelyard::cuda
