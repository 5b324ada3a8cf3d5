// SPDX-License-Identifier: Apache-2.0
//
// Sorting rows and finding their largest on CUDA (ATen/native/cuda/Sort.cpp, SortStable.cu): short
// rows where they lie, long ones in a buffer of their own unless their elements lie side by side,
// by CUB.
#pragma once

#include <cstdint>

#include "ir/layout.h"
#include "ops/op_def.h"

namespace steelyard::cuda {

// What sorting the rows along `dim` takes besides the results, which are like the operand: values,
// and int64 for where they were.
void SortRows(const OpView& op, const Layout& self, DType dtype, int dim, Allocations& memory);

// What finding the largest elements along `dim` takes besides them (TensorTopK.cpp).
void FindLargest(const OpView& op, const Layout& self, DType dtype, int dim, Allocations& memory);

}  // namespace steelyard::cuda
