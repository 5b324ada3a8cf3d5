// SPDX-License-Identifier: Apache-2.0
//
// Kernels on CUDA that add in whatever order their threads come, and of which PyTorch has no other:
// under torch.use_deterministic_algorithms it raises (at::Context::alertNotDeterministic).
#pragma once

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::cuda {

void RefuseWhereDeterministic(const OpView& op);

// The shape rule of such a kernel.
template <ShapeFn kShape>
void Unordered(const OpView& op, Outputs& out) {
  RefuseWhereDeterministic(op);
  kShape(op, out);
}

// What an empty tensor that is resized takes besides: its elements are filled, with a number that
// lies on the device for the while (fill_resize_deterministic_).
void FillResized(const OpView& op, std::int64_t elements, DType dtype, Allocations& memory);
// The allocations of a result that is made so.
void Resized(const OpView& op, Allocations& memory);

}  // namespace steelyard::cuda
