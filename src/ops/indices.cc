// SPDX-License-Identifier: Apache-2.0

#include "ops/indices.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "ops/rules/allocations.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {

void RequireSlices(const OpView& op) {
  const TensorView self = op.self(), index = op.tensor(2), source = op.tensor(3);
  const int dim = op.dim(1, self.rank());
  if (index.rank() > 1) Refuse("the index has more than one dimension: " + shape::Text(index));
  if (source.dtype() != self.dtype()) Refuse("what is written must be of the tensor's dtype");
  Dims wanted(self.sizes());
  if (self.rank() > 0) wanted[dim] = index.count();
  const bool scalar = source.rank() == 0 && index.count() == 1;
  if (!scalar && !std::ranges::equal(source.sizes(), std::span<const std::int64_t>(wanted))) {
    Refuse(fmt::format("{} does not fit {} at {}", shape::Text(source), shape::Text(self),
                       shape::Text(index)));
  }
}

void CastIndexAndBuffer(const TensorView& index, const TensorView& result, Allocations& memory) {
  const auto cast = allocations::Cast(index, DType::kInt64, memory);
  std::optional<Allocations::Scratch> buffer;
  if (IsHalf(result.dtype())) {
    const std::int64_t bytes = allocations::Bytes(result.count(), DType::kFloat32);
    buffer = memory.Allocate(bytes, "aten::empty");
  }
  allocations::Free(cast, memory);
  allocations::Free(buffer, memory);
}

bool IsRepeatedInRows(const TensorView& index) {
  if (index.rank() == 0 || index.stride(0) == 0) return false;
  for (int d = 1; d < index.rank(); ++d) {
    if (index.stride(d) != 0 && (index.size(d) != 1 || index.stride(d) != 1)) return false;
  }
  return true;
}

bool HaveEqualRows(const TensorView& a, const TensorView& b) {
  return a.rank() > 0 && a.rank() == b.rank() &&
         std::ranges::equal(a.sizes().subspan(1), b.sizes().subspan(1));
}

}  // namespace steelyard::ops
