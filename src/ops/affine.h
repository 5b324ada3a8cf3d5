// SPDX-License-Identifier: Apache-2.0
//
// What all operators ask that quantize by a scale and a zero point.
#pragma once

#include <optional>

#include "ops/op_def.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {

// Requires a floating-point tensor of at most 32 bits.
inline void RequireFloat(const TensorView& t) {
  if (t.dtype() != DType::kFloat32 && t.dtype() != DType::kBFloat16 &&
      t.dtype() != DType::kFloat16) {
    Refuse("what is quantized is floating-point, not " + shape::Text(t));
  }
}

// The dtype that argument `i` names, which has no default.
inline DType AskedType(const OpView& op, int i) {
  const std::optional<DType> type = op.dtype(i);
  if (!type) Refuse("the dtype must be given");
  return *type;
}

}  // namespace steelyard::ops
