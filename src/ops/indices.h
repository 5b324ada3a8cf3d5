// SPDX-License-Identifier: Apache-2.0
//
// What operators that look things up by an index share.
#pragma once

#include "ops/op_def.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {

inline void RequireIndex(const TensorView& index) {
  if (index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32) return;
  Refuse("an index must be int64 or int32, not " + shape::Text(index));
}

// The gradient of an embedding's table: (grad, indices, num_weights).
inline void TableGradientShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{op.integer(2), op.self().size(-1)});
}

}  // namespace steelyard::ops
