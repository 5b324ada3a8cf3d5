// SPDX-License-Identifier: Apache-2.0
//
// What operators that look things up, or write them, by an index share.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/op_def.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {

inline void RequireIndex(const TensorView& index) {
  if (index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32) return;
  Refuse("an index must be int64 or int32, not " + shape::Text(index));
}

// Of `index_put` (self, indices, values): its values say how many elements masks chose, unless one
// stands for all.
std::optional<std::int64_t> ChosenByValues(const OpView& op);

// Of kernels that cast none.
inline void RequireLong(const TensorView& index) {
  if (index.dtype() != DType::kInt64) Refuse("an index must be int64, not " + shape::Text(index));
}

// Refuses what cannot be written to slices: (self, dim, index, source).
void RequireSlices(const OpView& op);

// Half-precision results are computed in a float32 buffer of their size (ScatterGatherKernel.cpp).
// The kernels read int64: another index is cast, until the buffer is filled.
void CastIndexAndBuffer(const TensorView& index, const TensorView& result, Allocations& memory);

// An index that says the same for a whole row moves whole rows, without that buffer
// (can_use_expanded_index_path).
bool IsRepeatedInRows(const TensorView& index);
// Of whole rows, whether both have as long ones.
bool HaveEqualRows(const TensorView& a, const TensorView& b);

// A kernel that writes into argument 0.
constexpr OpDef Written(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                        WorkFn work, Gradient grad = kGradientUnknown) {
  return OpaqueKernel(Family::kIndexing, words, shape, allocations, work, grad, precision::kFollow,
                      Alias::kInPlace);
}

// The gradient of an embedding's table: (grad, indices, num_weights).
inline void TableGradientShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{op.integer(2), op.self().size(-1)});
}

}  // namespace steelyard::ops
