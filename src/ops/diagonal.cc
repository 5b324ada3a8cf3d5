// SPDX-License-Identifier: Apache-2.0
//
// Diagonals: of matrices as views, vectors, blocks and numbers put on them, and their sums
// (ATen/native/TensorShape.cpp, TensorFactories.cpp, ReduceOps.cpp, Fill.cpp). A diagonal is a view
// of both dimensions' strides; what is put on one is copied into zeros.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/view.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Views --------------------------------------------------------------------------------------

// The elements (i, i + offset) of two dimensions, as a new last one.
void DiagonalShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int a = op.dim(2, self.rank()), b = op.dim(3, self.rank());
  if (self.rank() < 2 || a == b) Refuse(fmt::format("no diagonal of {}", shape::Text(self)));
  const std::int64_t offset = op.integer(1);
  const std::int64_t rows = self.size(a) + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = self.size(b) - std::max<std::int64_t>(offset, 0);
  shape::Geometry g = shape::GeometryOf(self);
  g.sizes.push_back(std::max<std::int64_t>(std::min(rows, columns), 0));
  std::int64_t stride = 0;
  if (__builtin_add_overflow(self.stride(a), self.stride(b), &stride)) {
    Refuse(fmt::format("the strides of {} are too large", shape::Text(self)));
  }
  g.strides.push_back(stride);
  for (int dim : {std::max(a, b), std::min(a, b)}) {
    g.sizes.erase(dim);
    g.strides.erase(dim);
  }
  shape::AddView(self, g, out);
  out.BeginAfter(offset < 0 ? -offset : offset, self.stride(offset < 0 ? a : b));
}

std::vector<Tensor> LinalgDiagonal(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::diagonal", d.tensor(op, 0), op.arg(1), op.arg(2), op.arg(3))};
}

// --- Vectors and blocks as diagonals ------------------------------------------------------------

std::vector<Tensor> DiagonalEmbed(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor is no diagonal");
  const int rank = self.rank() + 1;
  if (rank > Dims::kMaxRank) Refuse("too many dimensions");
  const int first = op.dim(2, rank), second = op.dim(3, rank);
  if (first == second) Refuse("a diagonal lies between two different dimensions");
  std::int64_t side = 0;
  if (__builtin_add_overflow(self.size(-1), std::abs(op.integer(1)), &side)) {
    Refuse("the offset is too large");
  }
  Dims sizes;
  for (int i = 0, from = 0; i < rank; ++i) {
    sizes.push_back(i == first || i == second ? side : self.size(from++));
  }
  const Tensor out = d.Call("aten::zeros", sizes, self.dtype());
  const Tensor diagonal = d.Call("aten::diagonal", out, op.arg(1), first, second);
  d.Call("aten::copy_", diagonal, d.tensor(op, 0));
  return {out};
}

std::vector<Tensor> Diagonal(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 1) return {d.Call("aten::diag_embed", d.tensor(op, 0), op.arg(1))};
  if (op.self().rank() == 2) return {d.Call("aten::diagonal_copy", d.tensor(op, 0), op.arg(1))};
  Refuse("a vector or a matrix is needed, not " + shape::Text(op.self()));
}

// self, offset
std::vector<Tensor> DiagonalOfAll(Dispatcher& d, const OpView& op) {
  const Tensor row = d.Call("aten::view", d.Call("aten::contiguous", op.arg(0)), Dims{-1});
  return {d.Call("aten::diag", row, op.arg(1))};
}

std::vector<Tensor> BlockDiagonal(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> parts = d.tensors(op, 0);
  std::vector<TensorView> views;
  views.reserve(parts.size());
  Count rows, columns;
  const auto sizes = [](const Tensor& t) {
    if (t.rank() > 2) Refuse("a block has at most two dimensions: " + shape::Text(t.view()));
    return Dims{t.rank() == 2 ? t.size(0) : 1, t.rank() == 0 ? 1 : t.size(-1)};
  };
  for (const Tensor& part : parts) {
    views.push_back(part.view());
    rows += sizes(part)[0];
    columns += sizes(part)[1];
  }
  if (rows.overflowed() || columns.overflowed()) Contradict("more rows than 2^63");
  const DType dtype = parts.empty() ? DType::kFloat32 : ResultType(views);
  const Tensor out = d.Call("aten::zeros", Dims{rows.value(), columns.value()}, dtype);
  std::int64_t row = 0, column = 0;
  for (const Tensor& part : parts) {
    const Dims size = sizes(part);
    const Tensor band = d.Call("aten::slice.Tensor", out, 0, row, row + size[0]);
    const Tensor place = d.Call("aten::slice.Tensor", band, 1, column, column + size[1]);
    d.Call("aten::copy_", place, part);
    row += size[0];
    column += size[1];
  }
  return {out};
}

// --- Traces -------------------------------------------------------------------------------------

void TraceShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the matrix", op.self(), 2);
  const DType own = op.self().dtype();
  out.Add(IsFloating(own) || IsComplex(own) ? own : DType::kInt64, Dims());
}

// On CUDA it is a sum; whole numbers are cast to int64 first.
void TraceOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const DType sum = op.output().dtype();
  const std::int64_t length = std::min(self.size(0), self.size(1));
  const Dims sizes{length};
  const bool casts = self.dtype() != sum;
  const Dims strides{casts ? 1 : self.stride(0) + self.stride(1)};
  std::optional<Allocations::Scratch> cast;
  if (casts) cast = memory.Allocate(allocations::Bytes(length, sum));
  cuda::Stage(op, {sizes, strides}, sum, 1, cuda::SumOf(sum), memory);
  allocations::Free(cast, memory);
}

Work TraceWork(const OpView& op) { return {.alu = std::min(op.self().size(0), op.self().size(1))}; }

// The gradient on the diagonal of zeros.
std::vector<Tensor> TraceBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = op.ints(1);
  shape::RequireSizes(sizes);
  if (sizes.size() != 2) Refuse("the sizes of a matrix are needed");
  const Count count = work::Elements(sizes);
  if (count.overflowed()) Contradict("the matrix is too large");
  const Tensor zeros = d.Call("aten::zeros", Dims{count.value()}, op.self().dtype());
  const Count end = Count(std::min(sizes[0], sizes[1])) * (Count(sizes[1]) + 1);
  const Tensor places =
      d.Call("aten::arange.start_step", std::int64_t{0}, end.value(), sizes[1] + 1, DType::kInt64);
  d.Call("aten::index_fill_.int_Tensor", zeros, 0, places, d.tensor(op, 0));
  return {d.Call("aten::view", zeros, sizes)};
}

// --- A diagonal that is filled ------------------------------------------------------------------

// As a view of the elements whose places are all the same (ATen/native/Fill.cpp); of a tall matrix,
// again below a row that is left out.
std::vector<Tensor> FillDiagonal(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() < 2) Refuse("a matrix is needed, not " + shape::Text(self));
  std::int64_t rows = self.size(0), step = 0;
  for (int i = 0; i < self.rank(); ++i) {
    if (self.rank() > 2) shape::RequireEqual("sizes", self.size(i), self.size(0));
    rows = std::min(rows, self.size(i));
    step += self.stride(i);
  }
  const Tensor out = d.tensor(op, 0);
  {
    const Tensor diagonal = d.Call("aten::as_strided", out, Dims{rows}, Dims{step});
    d.Call("aten::fill_.Scalar", diagonal, op.arg(1));
  }
  const std::int64_t width = self.size(1);
  if (!op.boolean(2) || self.rank() != 2 || self.size(0) <= width + 1) return {out};
  const std::int64_t left = (self.size(0) * width + width) / (width + 1) - rows;
  const std::int64_t begin = (width + 1) * self.stride(0);
  const Tensor below = d.Call("aten::as_strided", out, Dims{left}, Dims{step}, begin);
  d.Call("aten::fill_.Scalar", below, op.arg(1));
  return {out};
}

// --- Rows ---------------------------------------------------------------------------------------

Tensor DiagonalOfGradient(Dispatcher& d, const Backward& b) {
  return d.Call("aten::diagonal", b.grad(), b.op().arg(1), b.op().arg(2), b.op().arg(3));
}

constexpr Gradient kDiagonalEmbed{"DiagEmbedBackward0", {GradientOf(0, {}, DiagonalOfGradient)}};

constexpr std::array kRows{
    ViewKernel({"aten::diagonal", "A diagonal of two dimensions, as a new last one.",
                "(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
                "aten::diagonal(f32[4,10], 1)"},
               DiagonalShape, gradients::kDiagonal),
    Composite(Family::kView,
              {"aten::linalg_diagonal", "Diagonals of matrices.",
               "(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
               "aten::linalg_diagonal(f32[2,3,4])"},
              LinalgDiagonal),
    CopyingOut(Composite(Family::kView,
                         {"aten::diag_embed", "Vectors as diagonals of matrices.",
                          "(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                          "aten::diag_embed(f32[2,3])"},
                         DiagonalEmbed, kDiagonalEmbed)),
    Composite(Family::kView,
              {"aten::diag", "The diagonal of a matrix, or a matrix of a diagonal.",
               "(Tensor self, int diagonal=0) -> Tensor", "aten::diag(f32[3])"},
              Diagonal),
    Composite(Family::kDataMovement,
              {"aten::diagflat", "A matrix with all elements on a diagonal.",
               "(Tensor self, int offset=0) -> Tensor", "aten::diagflat(f32[2,3])"},
              DiagonalOfAll),
    CopyingOut(Composite(Family::kDataMovement,
                         {"aten::block_diag", "Matrices as blocks on the diagonal of one.",
                          "(Tensor[] tensors) -> Tensor", "aten::block_diag([f32[2,3], f32[3,4]])"},
                         BlockDiagonal, gradients::kBlockDiagonal)),
    CopyingOut(Casting(precision::kFullOnCpu,
                       Kernel(Family::kReduction,
                              {"aten::trace", "The sum of a matrix's diagonal.",
                               "(Tensor self) -> Tensor", "aten::trace(f32[3,4])"},
                              {TraceShape, Fusion::kReduction,
                               DeviceAllocations{allocations::Via<"aten::empty">, TraceOnCuda},
                               TraceWork, gradients::kTrace, precision::kFollow}))),
    Composite(Family::kReduction,
              {"aten::trace_backward", "The gradient of the sum of a matrix's diagonal.",
               "(Tensor grad, SymInt[] sizes) -> Tensor", "aten::trace_backward(f32[], [3,4])"},
              TraceBackward),
    Composite(Family::kElementwise,
              {"aten::fill_diagonal_", "A number written on the diagonal.",
               "(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
               "aten::fill_diagonal_(f32[8,5], 1)"},
              FillDiagonal),
};

}  // namespace

std::span<const OpDef> Diagonal() { return kRows; }

}  // namespace steelyard::ops
