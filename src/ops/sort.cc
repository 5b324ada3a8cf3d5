// SPDX-License-Identifier: Apache-2.0
//
// Elements in order, and the largest or smallest of them, with where they stand
// (ATen/native/Sorting.cpp, cpu/SortingKernel.cpp, cuda/Sort.cpp, cuda/TensorTopK.cpp). How many
// comparisons it takes goes by the logarithm of a row's length.

#include "ops/cuda/sort.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// Comparisons of a binary decision among `n`: its logarithm rounded up.
std::int64_t Decisions(std::int64_t n) {
  if (n <= 1) return 1;
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

// --- topk ---------------------------------------------------------------------------------------

void TopkShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t k = op.integer(1);
  const int dim = op.dim(2, self.rank());
  Dims sizes(self.sizes());
  const std::int64_t size = self.rank() == 0 ? 1 : self.size(dim);
  if (k < 0 || k > size) Refuse(fmt::format("the {} largest of {}", k, size));
  if (self.rank() > 0) sizes[dim] = k;
  out.Add(self.dtype(), sizes);
  out.Add(DType::kInt64, sizes);
}

void TopkOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  cuda::FindLargest(op, {self.sizes(), self.strides()}, self.dtype(), op.dim(2, self.rank()),
                    memory);
}

Work TopkWork(const OpView& op) {
  return {.compare = work::Elements(op.self()) * Decisions(op.integer(1))};
}

// --- sort ---------------------------------------------------------------------------------------

template <int kDim>
void SortShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  op.dim(kDim, self.rank());  // refused where there is none
  shape::Like(self, self.dtype(), out);
  shape::Like(self, DType::kInt64, out);
}

// The positions 0, 1, ... of one row, from which the indices start.
template <int kDim>
void SortAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  const int dim = op.dim(kDim, self.rank());
  if (self.rank() == 0) return;
  memory.Free(memory.Allocate(allocations::Bytes(self.size(dim), DType::kInt64), "aten::resize_"));
}

template <int kDim>
void SortOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  cuda::SortRows(op, {self.sizes(), self.strides()}, self.dtype(), op.dim(kDim, self.rank()),
                 memory);
}

template <int kDim>
Work SortWork(const OpView& op) {
  const TensorView self = op.self();
  const int dim = op.dim(kDim, self.rank());
  const Count elements = work::Elements(self);
  return {.compare = elements * Decisions(self.rank() == 0 ? 1 : self.size(dim)), .move = elements};
}

std::vector<Tensor> Argsort(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::sort", op.arg(0), op.arg(1), op.arg(2))[1]};
}

std::vector<Tensor> ArgsortStable(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::sort.stable", op.arg(0), op.arg(1), op.arg(2), op.arg(3))[1]};
}

std::vector<Tensor> SortedRows(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::sort", op.arg(0), 0, false)[0]};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    OpaqueKernel(Family::kSelection,
                 {"aten::topk", "The largest elements along a dimension, and where they are.",
                  "(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
                  "(Tensor values, Tensor indices)",
                  "aten::topk(f32[6,8], 2)"},
                 TopkShape, {allocations::OutputsOnly, TopkOnCuda}, TopkWork, gradients::kTopk),
    OpaqueKernel(
        Family::kSelection,
        {"aten::sort", "Elements in order along a dimension, and where they were.",
         "(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
         "aten::sort(f32[4,6]{1,4}, 0)"},
        SortShape<1>, {SortAllocations<1>, SortOnCuda<1>}, SortWork<1>, gradients::kSort),
    OpaqueKernel(
        Family::kSelection,
        {"aten::sort.stable", "Elements in order, equal ones as they stood, and where they were.",
         "(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, "
         "Tensor indices)",
         "aten::sort.stable(i64[12], stable=True)"},
        SortShape<2>, {SortAllocations<2>, SortOnCuda<2>}, SortWork<2>, gradients::kSortStable),
    Composite("aten::argsort", "Positions of the elements in order.",
              "(Tensor self, int dim=-1, bool descending=False) -> Tensor",
              "aten::argsort(f32[4,6])", Family::kSelection, Argsort, precision::kFollow),
    Composite("aten::argsort.stable",
              "Positions of the elements in order, equal ones as they stood.",
              "(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
              "aten::argsort.stable(f32[4,6], stable=True)", Family::kSelection, ArgsortStable,
              precision::kFollow),
    Composite("aten::msort", "Elements in order along the first dimension.",
              "(Tensor self) -> Tensor", "aten::msort(f32[4,6])", Family::kSelection, SortedRows,
              precision::kFollow),
};

}  // namespace

std::span<const OpDef> Sort() { return kRows; }

}  // namespace steelyard::ops
