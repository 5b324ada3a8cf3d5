// SPDX-License-Identifier: Apache-2.0
//
// Elements taken from places that an index says, one for each: along a dimension, or of all
// elements (ATen/native/TensorAdvancedIndexing.cpp, cpu/ScatterGatherKernel.cpp). Whole rows are
// moved where the index says the same for all of a row.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- gather(self, dim, index) -------------------------------------------------------------------

void GatherShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const TensorView index = op.tensor(2);
  RequireIndex(index);
  const int dim = op.dim(1, self.rank());
  if (index.count() == 0) return out.Add(self.dtype(), index.sizes());
  if (std::max(self.rank(), 1) != std::max(index.rank(), 1)) {
    Refuse(fmt::format("{} cannot be gathered by {}", shape::Text(self), shape::Text(index)));
  }
  for (int d = 0; d < std::min(self.rank(), index.rank()); ++d) {
    if (d != dim && index.size(d) > self.size(d)) {
      Refuse(
          fmt::format("the index exceeds dimension {}: {} vs {}", d, index.size(d), self.size(d)));
    }
  }
  out.Add(self.dtype(), index.sizes());
}

void GatherAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const TensorView index = op.tensor(2);
  const bool rows = op.dim(1, self.rank()) == 0 && self.is_contiguous() &&
                    IsRepeatedInRows(index) && HaveEqualRows(self, index);
  if (index.count() == 0) return;
  if (!rows) return CastIndexAndBuffer(index, op.output(), memory);
  allocations::Free(allocations::Cast(index, DType::kInt64, memory), memory);
}

// --- take(self, index), take_along_dim(self, indices, dim) --------------------------------------

void TakeShape(const OpView& op, Outputs& out) {
  RequireLong(op.tensor(1));
  if (op.self().count() == 0 && op.tensor(1).count() > 0) Refuse("there is nothing to take");
  out.Add(op.self().dtype(), op.tensor(1).sizes());
}

std::vector<Tensor> TakeAlongDim(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self(), index = op.tensor(1);
  RequireLong(index);
  if (!op.given(2)) {
    const Tensor flat = d.Call("aten::view", d.tensor(op, 0), Dims{-1});
    const Tensor places = d.Call("aten::view", d.tensor(op, 1), Dims{-1});
    const Tensor wrapped = d.Call("aten::remainder.Scalar", places, self.count());
    return {d.Call("aten::gather", flat, 0, wrapped)};
  }
  shape::RequireEqual("numbers of dimensions", self.rank(), index.rank());
  const int dim = op.dim(2, self.rank());
  Dims without_self(self.sizes()), without_index(index.sizes());
  if (self.rank() > 0) without_self[dim] = without_index[dim] = 1;
  const std::array<Sizes, 2> shapes{without_self, without_index};
  const std::optional<Dims> common = BroadcastShapes(shapes);
  if (!common) Refuse("the shapes do not broadcast");
  Dims of_index = *common, of_self = *common;
  if (self.rank() > 0) {
    of_index[dim] = index.size(dim);
    of_self[dim] = self.size(dim);
  }
  const Tensor places = d.Call("aten::broadcast_to", d.tensor(op, 1), of_index);
  const Tensor source = d.Call("aten::broadcast_to", d.tensor(op, 0), of_self);
  const std::int64_t size = self.rank() > 0 ? self.size(dim) : 1;
  const Tensor wrapped = d.Call("aten::remainder.Scalar", places, size);
  return {d.Call("aten::gather", source, dim, wrapped)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Kernel(Family::kIndexing,
           {"aten::gather", "Elements chosen along a dimension by an index for each.",
            "(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
            "aten::gather(f32[4,6], 1, i64[4,2])"},
           {GatherShape, Fusion::kInjective, GatherAllocations, work::Move, gradients::kGather,
            precision::kFollow},
           Alias::kNone, traffic::ReadPartOfFirst),
    Kernel(Family::kIndexing,
           {"aten::take", "Elements by their positions in the flattened tensor.",
            "(Tensor self, Tensor index) -> Tensor", "aten::take(f32[4,3], i64[2])"},
           {.shape = TakeShape,
            .fusion = Fusion::kInjective,
            .allocations = allocations::Via<"aten::empty">,
            .work = work::Move,
            .grad = gradients::kTake,
            .precision = precision::kFollow},
           Alias::kNone, traffic::ReadPartOfFirst),
    Composite(Family::kIndexing,
              {"aten::take_along_dim", "Elements by their positions along a dimension.",
               "(Tensor self, Tensor indices, int? dim=None) -> Tensor",
               "aten::take_along_dim(f32[2,3], i64[2,1], 1)"},
              TakeAlongDim, kGradientFromParts),
};

}  // namespace

std::span<const OpDef> Gather() { return kRows; }

}  // namespace steelyard::ops
