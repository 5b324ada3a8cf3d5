// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on CUDA: what ATen's calls of cuBLAS and cuBLASLt take from the allocator and
// give back (aten/src/ATen/cuda/CublasHandlePool.cpp, native/cuda/Blas.cpp), or before PyTorch 2.15
// keep.
#pragma once

#include <string_view>

#include "ops/op_def.h"

namespace steelyard::cuda {

// Takes the workspace of one call of cuBLAS, and frees it where it is not kept for others, under
// the label of the kernel or another.
void UseBlasWorkspace(const OpView& op, Allocations& memory, std::string_view label = {});

// Of kernels whose factors are the arguments `first` and `first + 1`: two matrices, two batches of
// them, or a matrix and a vector.
void Product(const OpView& op, int first, Allocations& memory);
template <int kFirst>
void Multiply(const OpView& op, Allocations& memory) {
  Product(op, kFirst, memory);
}

// Of two vectors.
void Dot(const OpView& op, Allocations& memory);

}  // namespace steelyard::cuda
