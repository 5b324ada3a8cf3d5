// SPDX-License-Identifier: Apache-2.0
//
// Triangles of matrices, and the rows and columns of their elements
// (ATen/native/TriangularOps.cpp, TensorFactories.cpp). What is kept is copied, the rest is zero;
// matrices with gaps between them are made dense first.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/gradients/indexing.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- tril, triu(self, diagonal) -----------------------------------------------------------------

void TriangleShape(const OpView& op, Outputs& out) {
  if (op.self().rank() < 2) Refuse("a matrix is needed, not " + shape::Text(op.self()));
  out.Add(op.self().dtype(), op.self().sizes());
}

// Matrices that do not lie densely one after the other are copied (checkTrilTriuBatchContiguous in
// ATen/native/TriangularOpsUtils.h).
bool AreDenseMatrices(const TensorView& self) {
  bool dense = true;
  Count step = Count(self.size(-1)) * self.size(-2);
  for (int d = self.rank() - 3; d >= 0; --d) {
    dense = dense && step == Count(self.stride(d));
    step = step * self.size(d);
  }
  return dense;
}

void TriangleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  if (AreDenseMatrices(op.self())) return;
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}

void TriangleInPlaceShape(const OpView& op, Outputs& out) {
  if (op.self().rank() < 2) Refuse("a matrix is needed, not " + shape::Text(op.self()));
  out.AddLike(op.self());
}

// Up to three dimensions may lie anyhow; strides of dimensions of size 1 count.
void TriangleInPlaceAllocations(const OpView& op, Allocations& memory) {
  constexpr int kAnyhow = 3;
  const TensorView self = op.self();
  if (self.is_contiguous()) {
    if (std::ranges::equal(self.strides(), ContiguousStrides(self.sizes()))) return;
  } else if (self.rank() <= kAnyhow || AreDenseMatrices(self)) {
    return;
  }
  const auto from = allocations::Contiguous(self, memory);
  const auto to = memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::empty");
  memory.Free(to);
  allocations::Free(from, memory);
}

// --- tril_indices, triu_indices(row, col, offset, ...) ------------------------------------------

// Elements of a triangle (get_tril_size in ATen/native/TensorFactories.h).
Count BelowDiagonal(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (rows == 0 || columns == 0) return 0;
  if (offset >= columns) return Count(rows) * columns;
  const std::int64_t first = offset > 0 ? std::min(columns, 1 + offset) : (rows + offset > 0);
  const std::int64_t last = std::max<std::int64_t>(0, std::min(columns, rows + offset));
  const std::int64_t filled = std::max<std::int64_t>(0, std::min(rows, rows + offset));
  const std::int64_t stairs = last - first + 1;
  const Count trapezoid = Count((first + last) * stairs / 2);
  return trapezoid + Count(std::max<std::int64_t>(0, filled - stairs)) * columns;
}

constexpr std::int64_t kMostRows = std::int64_t{1} << 31;

template <bool kLower>
void TriangleIndicesShape(const OpView& op, Outputs& out) {
  const std::int64_t rows = op.integer(0), columns = op.integer(1), offset = op.integer(2);
  if (rows < 0 || columns < 0) Refuse("a negative number of rows or columns");
  if (rows > kMostRows || columns > kMostRows || std::abs(offset) > kMostRows) {
    Refuse("a triangle of more than 2^31 rows");
  }
  const Count below = BelowDiagonal(rows, columns, kLower ? offset : offset - 1);
  const std::int64_t size =
      kLower ? below.value() : (Count(rows) * columns).value() - below.value();
  if (size < 0) Refuse("a triangle of more than 2^63 elements");
  out.Add(op.dtype(3).value_or(DType::kInt64), Dims{2, size});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Triangle(const Words& words, Gradient grad) {
  return Kernel(Family::kIndexing, words,
                {TriangleShape, Fusion::kInjective, TriangleAllocations, work::Move, grad,
                 precision::kFollow});
}

constexpr OpDef TriangleInPlace(const Words& words, Gradient grad) {
  return Kernel(Family::kIndexing, words,
                {TriangleInPlaceShape, Fusion::kInjective, TriangleInPlaceAllocations, work::Move,
                 grad, precision::kFollow},
                Alias::kInPlace);
}

constexpr OpDef Indices(const Words& words, ShapeFn shape, AllocationsFn allocations) {
  return Kernel(Family::kFactory, words,
                {.shape = shape,
                 .fusion = Fusion::kInjective,
                 .allocations = allocations,
                 .work = work::Move,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::WriteOnly);
}

constexpr std::array kRows{
    Knowing(contents::LowerTriangle,
            Triangle({"aten::tril", "The lower triangle; zero elsewhere.",
                      "(Tensor self, SymInt diagonal=0) -> Tensor", "aten::tril(f32[8,8])"},
                     gradients::kTril)),
    Knowing(contents::UpperTriangle,
            Triangle({"aten::triu", "The upper triangle; zero elsewhere.",
                      "(Tensor self, SymInt diagonal=0) -> Tensor", "aten::triu(f32[8,8], 1)"},
                     gradients::kTriu)),
    Knowing(contents::LowerTriangle,
            TriangleInPlace(
                {"aten::tril_", "The lower triangle; zero elsewhere, in place.",
                 "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", "aten::tril_(f32[8,8])"},
                gradients::kTril)),
    Knowing(contents::UpperTriangle,
            TriangleInPlace(
                {"aten::triu_", "The upper triangle; zero elsewhere, in place.",
                 "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", "aten::triu_(f32[8,8], 1)"},
                gradients::kTriu)),
    CopyingOut(Indices(
        {"aten::tril_indices", "Rows and columns of a lower triangle.",
         "(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
         "device=None, bool? pin_memory=None) -> Tensor",
         "aten::tril_indices(4, 3)"},
        TriangleIndicesShape<true>, allocations::OutputsOnly)),
    CopyingOut(Indices(
        {"aten::triu_indices", "Rows and columns of an upper triangle.",
         "(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
         "device=None, bool? pin_memory=None) -> Tensor",
         "aten::triu_indices(4, 3, 1)"},
        TriangleIndicesShape<false>, allocations::OutputsOnly)),
};

}  // namespace

std::span<const OpDef> Triangular() { return kRows; }

}  // namespace steelyard::ops
