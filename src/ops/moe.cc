// SPDX-License-Identifier: Apache-2.0
//
// What mixtures of experts need besides: choosing, sorting and counting experts, and the products
// of each expert with its rows (ATen/native/Sorting.cpp, cpu/SortingKernel.cpp, Histogram.cpp,
// GroupedMMUtils.h).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/gradients/linalg.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// Comparisons of a binary decision among `n`: its logarithm rounded up.
std::int64_t Decisions(std::int64_t n) {
  if (n <= 1) return 1;
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

// --- topk(self, k, dim, largest, sorted) ---------------------------------------------------------

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

// TensorTopK.cpp: long rows are shared by several blocks of threads, which count digits.
bool SharesRows(std::int64_t rows, std::int64_t size) {
  struct Least {
    std::int64_t rows, size;
  };
  constexpr std::array kLeast{Least{20, 20000}, Least{40, 10000}, Least{80, 8000},
                              Least{200, 5000}, Least{800, 3000}, Least{4000, 800}};
  constexpr std::int64_t kLeastOfMany = 400;
  const auto* const found =
      std::ranges::find_if(kLeast, [&](const Least& least) { return rows <= least.rows; });
  return size >= (found == kLeast.end() ? kLeastOfMany : found->size);
}

void TopkOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  const auto copy = cuda::Contiguous(self, memory);
  const std::int64_t size = self.rank() == 0 ? 1 : self.size(op.dim(2, self.rank()));
  const std::int64_t rows = size == 0 ? 0 : self.count() / size;
  if (rows > 0 && SharesRows(rows, size)) {
    constexpr std::int64_t kThreads = 256, kBlocksPerProcessor = 6, kDigits = 256;
    const std::int64_t fitting = op.target().multiprocessors * kBlocksPerProcessor * kThreads;
    const std::int64_t per_thread =
        std::clamp<std::int64_t>(DivideUp(self.count(), fitting), 4, 64);
    const std::int64_t blocks = rows * DivideUp(size, per_thread * kThreads);
    const std::int64_t width = BitsOf(self.dtype()) / 8;
    std::vector<Allocations::Scratch> scratch;
    for (const std::int64_t bytes :
         {rows * width, rows * 8, rows * 2 * std::max<std::int64_t>(width, 4), blocks * kDigits * 2,
          rows * kDigits * 4, blocks * 4, blocks * 4}) {
      scratch.push_back(memory.Allocate(bytes));
    }
    for (int i = 0; i < 2; ++i) memory.Free(memory.Allocate(cuda::ScanBytes(blocks)));
    for (std::size_t i = scratch.size(); i-- > 0;) memory.Free(scratch[i]);
  }
  allocations::Free(copy, memory);
}

Work TopkWork(const OpView& op) {
  return {.compare = work::Elements(op.self()) * Decisions(op.integer(1))};
}

// --- sort(self, dim, descending) -----------------------------------------------------------------

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

// Sort.cpp: rows of up to 4096 elements are sorted by a block of threads each, a longer one alone
// by CUB, with positions from which the indices start.
template <int kDim>
void SortOnCuda(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kShort = 4096;
  const TensorView self = op.self();
  if (self.rank() == 0 || self.size(op.dim(kDim, self.rank())) <= kShort) {
    return SortAllocations<kDim>(op, memory);
  }
  allocations::OutputsOnly(op, memory);
  const std::int64_t size = self.size(op.dim(kDim, self.rank()));
  const auto positions = memory.Allocate(allocations::Bytes(size, DType::kInt64));
  const std::int64_t width = std::max(BitsOf(self.dtype()) / 8, 1);
  const int bits = static_cast<int>(width) * 8;
  memory.Free(memory.Allocate(cuda::SortPairsBytes(size, bits, op.target(), width)));
  memory.Free(positions);
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

// --- histc(self, bins, min, max) -----------------------------------------------------------------

void HistcShape(const OpView& op, Outputs& out) {
  const std::int64_t bins = op.integer(1);
  if (bins <= 0) Refuse(fmt::format("a histogram of {} bins", bins));
  out.Add(op.self().dtype(), Dims{bins});
}

// The edges of the bins, and the counts of a thread; equal limits are replaced by the least and the
// largest element.
void HistcAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.self().dtype();
  const std::int64_t bins = op.integer(1);
  const TensorView self = op.self();
  const bool flat = ViewStrides(self.sizes(), self.strides(), Dims{self.count()}).has_value();
  const auto copy = flat ? std::nullopt : allocations::Contiguous(self, memory);
  const Allocations::Scratch edges = memory.Allocate(allocations::Bytes(Count(bins) + 1, dtype));
  memory.Output(0);
  if (op.real(2) == op.real(3)) {
    const Allocations::Scratch least =
        memory.Allocate(allocations::Bytes(1, dtype), "aten::aminmax");
    const Allocations::Scratch largest =
        memory.Allocate(allocations::Bytes(1, dtype), "aten::aminmax");
    memory.Free(largest);
    memory.Free(least);
  }
  const Count counts = Count(bins) * op.target().threads;
  memory.Free(memory.Allocate(allocations::Bytes(counts, dtype), "aten::empty"));
  allocations::Free(copy, memory);
  memory.Free(edges);
}

// --- _grouped_mm(self, mat2, offs, bias, out_dtype) ----------------------------------------------

// A group's rows of `self` (or columns of `mat2`, or part of the inner dimension) end at its
// offset; only the offsets' values, which no graph holds, say how many there are. Where both
// operands have three dimensions the groups are a batch.
void RequireGrouped(const TensorView& a, const TensorView& b, const TensorView& offsets) {
  if ((a.rank() != 2 && a.rank() != 3) || (b.rank() != 2 && b.rank() != 3)) {
    Refuse(fmt::format("grouped products of {} and {}", shape::Text(a), shape::Text(b)));
  }
  product::RequireInner(a, b);
  product::RequireSameDType(a, b);
  if (a.rank() == 3 && b.rank() == 3) {
    shape::RequireEqual("groups", a.size(0), b.size(0));
    return;
  }
  if (!offsets.defined()) Refuse("grouped products of a matrix need the offsets of the groups");
  shape::RequireRank("the offsets", offsets, 1);
  if (a.rank() == 3) shape::RequireEqual("groups", a.size(0), offsets.size(0));
  if (b.rank() == 3) shape::RequireEqual("groups", b.size(0), offsets.size(0));
}

Dims GroupedSizes(const TensorView& a, const TensorView& b, const TensorView& offsets) {
  RequireGrouped(a, b, offsets);
  if (a.rank() == 3 && b.rank() == 3) return {a.size(0), a.size(1), b.size(2)};
  if (a.rank() == 2 && b.rank() == 2) return {offsets.size(0), a.size(0), b.size(1)};
  return {a.size(-2), b.size(-1)};
}

// Rows of the result start at multiples of this (GroupedMMUtils.h, for TMA loads).
constexpr std::int64_t kRowAlignmentBits = std::int64_t{16} * 8;

Dims PaddedRows(const Dims& sizes, DType dtype) {
  const std::int64_t step = std::max<std::int64_t>(kRowAlignmentBits / BitsOf(dtype), 1);
  Dims padded = sizes;
  std::int64_t& row = padded[padded.size() - 1];
  if (row > INT64_MAX - step) Refuse(fmt::format("a row of {} elements", row));
  row = RoundUp(row, step);
  return padded;
}

void GroupedShape(const OpView& op, Outputs& out) {
  const Dims sizes = GroupedSizes(op.self(), op.tensor(1), op.tensor(2));
  const DType dtype = op.dtype(4).value_or(op.self().dtype());
  out.Add(dtype, sizes, ContiguousStrides(PaddedRows(sizes, dtype)));
}

// self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum: each row of
// `self` and each column of `mat2` has a scale (ScaledGroupedBlas.cpp)
void RequireScaledFactor(std::string_view name, const TensorView& factor, int dense_dim) {
  if (factor.dtype() != DType::kFloat8E4M3)
    Refuse("float8_e4m3fn is needed, not " + shape::Text(factor));
  if (factor.rank() != 2 && factor.rank() != 3) Refuse("matrices or batches of them are needed");
  if (factor.stride(dense_dim) != 1) {
    Refuse(fmt::format("the {} factor {} does not lie {} by {}", name, shape::Text(factor),
                       dense_dim == -1 ? "row" : "column", dense_dim == -1 ? "row" : "column"));
  }
  constexpr std::int64_t kTile = 16;
  if (factor.size(-1) % kTile != 0 || factor.size(-2) % kTile != 0) {
    Refuse(
        fmt::format("sizes of the {} factor {} are no multiples of 16", name, shape::Text(factor)));
  }
}
void RequireScales(std::string_view name, const TensorView& scales, const TensorView& factor,
                   int dim, const TensorView& offsets) {
  if (scales.dtype() != DType::kFloat32) Refuse("scales are float32, not " + shape::Text(scales));
  const Dims wanted =
      factor.rank() == 3 ? Dims{factor.size(0), factor.size(dim)} : Dims{factor.size(dim)};
  Dims grouped = wanted;  // of two matrices each group has scales of its own
  if (factor.rank() == 2 && offsets.defined()) grouped[0] *= offsets.size(0);
  const auto fits = [&](const Dims& sizes) {
    return std::ranges::equal(scales.sizes(), std::span<const std::int64_t>(sizes));
  };
  if (!fits(wanted) && !fits(grouped)) {
    Refuse(fmt::format("scales {} of the {} factor {}", shape::Text(scales), name,
                       shape::Text(factor)));
  }
}
void ScaledGroupedShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1), offsets = op.tensor(4);
  RequireScaledFactor("first", a, -1);
  RequireScaledFactor("second", b, -2);
  const Dims sizes = GroupedSizes(a, b, offsets);
  RequireScales("first", op.tensor(2), a, -2, offsets);
  RequireScales("second", op.tensor(3), b, -1, offsets);
  if (op.given(5)) Refuse("grouped products have no bias");
  if (op.dtype(7).value_or(DType::kBFloat16) != DType::kBFloat16) Refuse("the result is bfloat16");
  out.Add(DType::kBFloat16, sizes, ContiguousStrides(PaddedRows(sizes, DType::kBFloat16)));
}

// Every row is multiplied by the one matrix of its group: a mixture of experts does the work of the
// experts that were chosen. Rows behind the last offset are counted as if they belonged to a group.
Work GroupedWork(const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  const Count batch = a.rank() == 3 && b.rank() == 3 ? a.size(0) : 1;
  return {.mac = batch * a.size(-2) * a.size(-1) * b.size(-1)};
}

// As many rows belong to at most as many groups: the matrices of others are not read.
Traffic GroupedTraffic(const OpView& op) {
  Traffic moved = traffic::ReadAllWriteAll(op);
  const TensorView a = op.self(), b = op.tensor(1);
  if (a.rank() != 2 || b.rank() != 3 || a.size(0) >= b.size(0)) return moved;
  const Count matrices = Count(a.size(0)) * b.size(1) * b.size(2) * (BitsOf(b.dtype()) / 8);
  moved.read = traffic::Bytes(a) + matrices;
  if (op.tensor(2).defined()) moved.read += traffic::Bytes(op.tensor(2));
  return moved;
}

// --- transformers::grouped_mm_fallback(input, weight, offs) --------------------------------------

void FallbackShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the rows", op.self(), 2);
  shape::RequireRank("the weights", op.tensor(1), 3);
  out.Add(op.self().dtype(), GroupedSizes(op.self(), op.tensor(1), op.tensor(2)));
}

// Both are made like the operands.
void FallbackBackwardShape(const OpView& op, Outputs& out) {
  GroupedSizes(op.self(), op.tensor(1), op.tensor(2));
  shape::Like(op.self(), op.self().dtype(), out);
  shape::Like(op.tensor(1), op.tensor(1).dtype(), out);
}
Work FallbackBackwardWork(const OpView& op) {
  const TensorView rows = op.self();
  return {.mac = Count(2) * rows.size(0) * rows.size(1) * op.tensor(1).size(2)};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef RoutingKernel(OpName name, std::string_view summary, Signature signature,
                              std::string_view example, Gradient grad, ShapeFn shape,
                              DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kSelection, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work, grad, precision::kFollow});
}

constexpr OpDef GroupedProduct(OpName name, std::string_view summary, Signature signature,
                               std::string_view example, Gradient grad, ShapeFn shape,
                               AllocationsFn allocations) {
  return Kernel(Family::kContraction, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, GroupedWork, grad, precision::kFollow},
                Alias::kNone, GroupedTraffic);
}

constexpr std::array kRows{
    RoutingKernel("aten::topk", "The largest elements along a dimension, and where they are.",
                  "(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
                  "(Tensor values, Tensor indices)",
                  "aten::topk(f32[6,8], 2)", gradients::kTopk, TopkShape,
                  {allocations::OutputsOnly, TopkOnCuda}, TopkWork),
    RoutingKernel(
        "aten::sort", "Elements in order along a dimension, and where they were.",
        "(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        "aten::sort(f32[4,6]{1,4}, 0)", gradients::kSort, SortShape<1>,
        {SortAllocations<1>, SortOnCuda<1>}, SortWork<1>),
    RoutingKernel(
        "aten::sort.stable", "Elements in order, equal ones as they stood, and where they were.",
        "(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, "
        "Tensor indices)",
        "aten::sort.stable(i64[12], stable=True)", gradients::kSortStable, SortShape<2>,
        {SortAllocations<2>, SortOnCuda<2>}, SortWork<2>),
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
    RoutingKernel("aten::histc", "Counts of the elements between evenly spaced limits.",
                  "(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
                  "aten::histc(f32[12], 8, 0, 7)", kNoGradient, HistcShape, HistcAllocations,
                  work::PerInput<work::PerElement{.alu = 2, .compare = 2}>),
    GroupedProduct("aten::_grouped_mm",
                   "Product of each group of rows with the matrix of its group.",
                   "(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
                   "out_dtype=None) -> Tensor",
                   "aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])", gradients::kGroupedMm,
                   GroupedShape, allocations::Via<"aten::empty_strided">),
    OpaqueKernel(Family::kContraction,
                 {"aten::_scaled_grouped_mm",
                  "Product of each group of rows with the matrix of its group, of float8 with "
                  "scales.",
                  "(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? offs=None, "
                  "Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool "
                  "use_fast_accum=False) -> Tensor",
                  "aten::_scaled_grouped_mm(f8e4m3[32,16], f8e4m3[4,16,32]{512,1,16}, f32[32], "
                  "f32[4,32], i32[4])"},
                 ScaledGroupedShape, allocations::Via<"aten::empty_strided">, GroupedWork,
                 kNoGradient),
    GroupedProduct("transformers::grouped_mm_fallback",
                   "Product of each group of rows with the matrix of its group, one mm per group.",
                   "(Tensor input, Tensor weight, Tensor offs) -> Tensor",
                   "transformers::grouped_mm_fallback(f32[12,8], f32[4,8,5], i32[4])",
                   gradients::kGroupedMmFallback, FallbackShape, allocations::Via<"aten::empty">),
    Kernel(Family::kContraction,
           {"transformers::grouped_mm_fallback_backward",
            "The gradients of grouped products, two mm per group.",
            "(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) -> (Tensor, "
            "Tensor)",
            "transformers::grouped_mm_fallback_backward(f32[12,8], f32[4,8,5], i32[4], "
            "f32[12,5])"},
           {FallbackBackwardShape, Fusion::kOpaque, allocations::Via<"aten::empty_strided">,
            FallbackBackwardWork, kNoGradient, precision::kFollow}),
};

}  // namespace

std::span<const OpDef> Moe() { return kRows; }

}  // namespace steelyard::ops
