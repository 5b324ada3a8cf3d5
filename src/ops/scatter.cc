// SPDX-License-Identifier: Apache-2.0
//
// Elements written to, reduced into or taken from places that an index says
// (ATen/native/TensorAdvancedIndexing.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

void RequireLong(const TensorView& index) {
  if (index.dtype() != DType::kInt64) Refuse("an index must be int64, not " + shape::Text(index));
}

// --- Words --------------------------------------------------------------------------------------

// The row-major result of an operator that copies its first argument into it.
void ResultShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.self().sizes()); }
void ResultAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
}
Tensor ResultOf(Dispatcher& d, const Tensor& self) {
  return d.Call("steelyard::copied_result", self);
}

// Counts of what was reduced into each element, 1 where nothing was.
void DivideByCounts(Dispatcher& d, const Tensor& out, const Tensor& counts) {
  d.Call("aten::masked_fill_.Scalar", counts, d.Call("aten::eq.Scalar", counts, 0), 1);
  if (IsFloating(out.dtype()) || IsComplex(out.dtype())) {
    d.Call("aten::div_.Tensor", out, counts);
  } else {
    Refuse("means of integers are not modelled");
  }
}

bool IsReduction(std::string_view name) {
  return name == "sum" || name == "prod" || name == "mean" || name == "amax" || name == "amin";
}

// --- scatter_reduce(self, dim, index, src, reduce, include_self) ---------------------------------

void RowsAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  if (self.dtype() != DType::kBFloat16) return;
  const Count row = work::Elements(op.tensor(3)).value() / op.tensor(3).size(0);
  const auto buffer = memory.Allocate(
      allocations::Bytes(row * op.target().threads, DType::kFloat32), "aten::empty");
  memory.Free(buffer, Allocations::kCaller);
}

void RequireScatter(const OpView& op) {
  const TensorView self = op.self(), index = op.tensor(2), source = op.tensor(3);
  const int dim = op.dim(1, self.rank());
  RequireIndex(index);
  if (source.dtype() != self.dtype()) Refuse("what is scattered must be of the tensor's dtype");
  if (index.count() == 0) return;
  const auto ranked = [](const TensorView& t) { return std::max(t.rank(), 1); };
  if (ranked(index) != ranked(self) || ranked(source) != ranked(self)) {
    Refuse(fmt::format("{} cannot be scattered into {} by {}", shape::Text(source),
                       shape::Text(self), shape::Text(index)));
  }
  for (int i = 0; i < index.rank(); ++i) {
    const bool fits = (i == dim || self.rank() == 0 || index.size(i) <= self.size(i)) &&
                      (source.rank() == 0 || index.size(i) <= source.size(i));
    if (!fits) Refuse(fmt::format("the index {} is too large", shape::Text(index)));
  }
}

// An index that says the same for whole rows, which are long, reduces them one after the other
// (can_use_expanded_index_path).
bool ByLongRows(const OpView& op) {
  constexpr std::int64_t kLongRow = 16;
  const TensorView self = op.self(), index = op.tensor(2), source = op.tensor(3);
  const bool fits = IsFloating(self.dtype()) && self.dtype() != DType::kFloat16 &&
                    self.count() > 0 && source.count() > 0 && index.rank() > 0 &&
                    op.dim(1, self.rank()) == 0 && self.is_contiguous() && source.is_contiguous();
  if (!fits || index.count() / index.size(0) < kLongRow || index.stride(0) <= 0) return false;
  for (int d = 1; d < index.rank(); ++d) {
    const bool repeated = index.stride(d) == 0 || (index.size(d) == 1 && index.stride(d) == 1);
    if (!repeated || source.size(d) != index.size(d)) return false;
  }
  return true;
}

void ReduceIntoShape(const OpView& op, Outputs& out) { out.AddLike(op.self()); }
// As every scatter: half-precision results are computed in a float32 buffer.
void ReduceIntoAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kLabel = Allocations::kCaller;
  const TensorView self = op.self(), index = op.tensor(2);
  const auto cast = allocations::Cast(index, DType::kInt64, memory);
  std::optional<Allocations::Scratch> buffer;
  if (self.dtype() == DType::kFloat16 || self.dtype() == DType::kBFloat16) {
    buffer = memory.Allocate(allocations::Bytes(self.count(), DType::kFloat32), "aten::empty");
  }
  if (cast) memory.Free(*cast, kLabel);
  if (buffer) memory.Free(*buffer, kLabel);
}

// What changes nothing when it is reduced with a number.
double NeutralOf(std::string_view reduction, const Tensor& of) {
  if (reduction == "prod") return 1;
  if (!IsFloating(of.dtype()) || reduction == "sum" || reduction == "mean") return 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return reduction == "amax" ? -kInfinity : kInfinity;
}

std::vector<Tensor> ScatterReduceInto(Dispatcher& d, const OpView& op, const Tensor& out) {
  RequireScatter(op);
  if (!IsReduction(op.text(4))) Refuse(fmt::format("no reduction is called {}", op.text(4)));
  if (op.tensor(2).count() == 0) return {out};
  const bool includes = op.boolean(5, true);
  const Tensor index = d.tensor(op, 2), source = d.tensor(op, 3);
  if (op.text(4) != "prod" && ByLongRows(op)) {
    return {d.Call("steelyard::rows_reduced", out, op.arg(1), index, source, op.arg(4), includes)};
  }
  if (!includes) d.Call("aten::scatter_.value", out, op.arg(1), index, NeutralOf(op.text(4), out));
  d.Call("steelyard::scatter_reduced", out, op.arg(1), index, source, op.arg(4));
  if (op.text(4) != "mean") return {out};
  const Tensor ones = d.Call("aten::ones_like", source);
  const Tensor counts =
      d.Call(includes ? OpName("aten::ones_like") : OpName("aten::zeros_like"), out);
  d.Call("aten::scatter_add_", counts, op.arg(1), index, ones);
  DivideByCounts(d, out, counts);
  return {out};
}
std::vector<Tensor> ScatterReduce(Dispatcher& d, const OpView& op) {
  return ScatterReduceInto(d, op, ResultOf(d, d.tensor(op, 0)));
}
std::vector<Tensor> ScatterReduceInPlace(Dispatcher& d, const OpView& op) {
  shape::RequireWritable(op.self());
  return ScatterReduceInto(d, op, d.tensor(op, 0));
}

// --- index_reduce, index_fill, index_copy(self, dim, index, ...) ---------------------------------

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

std::vector<Tensor> IndexReduceInto(Dispatcher& d, const OpView& op, const Tensor& out) {
  RequireSlices(op);
  RequireIndex(op.tensor(2));
  if (!IsReduction(op.text(4)) || op.text(4) == "sum") {
    Refuse(fmt::format("no reduction is called {}", op.text(4)));
  }
  const bool includes = op.boolean(5, true);
  if (!includes) {
    const Tensor index = d.Call("aten::to.dtype", d.tensor(op, 2), DType::kInt64);
    d.Call("aten::index_fill_.int_Scalar", out, op.arg(1), index, NeutralOf(op.text(4), out));
  }
  const Tensor places = d.Call("aten::contiguous", d.tensor(op, 2));
  d.Call("steelyard::index_reduced", out, op.arg(1), d.tensor(op, 2), d.tensor(op, 3), op.arg(4));
  if (op.text(4) != "mean") return {out};
  const Tensor counts =
      d.Call(includes ? OpName("aten::ones_like") : OpName("aten::zeros_like"), out);
  d.Call("aten::index_add_", counts, op.arg(1), d.tensor(op, 2),
         d.Call("aten::ones_like", d.tensor(op, 3)));
  DivideByCounts(d, out, counts);
  return {out};
}
std::vector<Tensor> IndexReduce(Dispatcher& d, const OpView& op) {
  return IndexReduceInto(d, op, ResultOf(d, d.tensor(op, 0)));
}

std::vector<Tensor> IndexReduceInPlace(Dispatcher& d, const OpView& op) {
  shape::RequireWritable(op.self());
  if (op.tensor(2).count() == 0) return {d.tensor(op, 0)};
  return IndexReduceInto(d, op, d.tensor(op, 0));
}

void FillShape(const OpView& op, Outputs& out) {
  op.dim(1, op.self().rank());
  RequireLong(op.tensor(2));
  if (op.tensor(2).rank() > 1) Refuse("the index has more than one dimension");
  out.AddLike(op.self());
}
Work FillWork(const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() == 0) return {.move = 1};
  const int dim = op.dim(1, self.rank());
  Dims sizes(self.sizes());
  sizes[dim] = op.tensor(2).count();
  return {.move = work::Elements(sizes)};
}
std::vector<Tensor> IndexFill(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::index_fill_.int_Scalar", out, op.arg(1), d.tensor(op, 2), op.arg(3))};
}
std::vector<Tensor> IndexFillByTensor(Dispatcher& d, const OpView& op) {
  if (op.tensor(3).rank() != 0) Refuse("the value has no dimensions");
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::index_fill_.int_Scalar", out, op.arg(1), d.tensor(op, 2), 0)};
}

std::vector<Tensor> IndexFillByTensorInPlace(Dispatcher& d, const OpView& op) {
  if (op.tensor(3).rank() != 0) Refuse("the value has no dimensions");
  return {d.Call("aten::index_fill_.int_Scalar", d.tensor(op, 0), op.arg(1), d.tensor(op, 2), 0)};
}

void CopySlicesShape(const OpView& op, Outputs& out) {
  RequireSlices(op);
  RequireLong(op.tensor(2));
  out.Add(op.self().dtype(), op.self().sizes());
}
void CopySlicesInPlaceShape(const OpView& op, Outputs& out) {
  RequireSlices(op);
  RequireLong(op.tensor(2));
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

// --- masked_scatter(self, mask, source) ----------------------------------------------------------

void MaskedScatterShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), mask = op.tensor(1), source = op.tensor(2);
  if (mask.dtype() != DType::kBool) Refuse("a mask must be bool, not " + shape::Text(mask));
  if (source.dtype() != self.dtype()) Refuse("what is written must be of the tensor's dtype");
  const Dims sizes = shape::Broadcast({self, mask});
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes), self.sizes())) {
    Refuse("the mask is larger than the tensor");
  }
  shape::RequireWritable(self);
  out.AddLike(self);
}
void MaskedScatterAllocations(const OpView& op, Allocations& memory) {
  allocations::Free(allocations::Contiguous(op.tensor(2), memory), memory);
}
std::vector<Tensor> MaskedScatter(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  const Tensor self = d.Call("aten::expand", d.tensor(op, 0), sizes);
  const Tensor mask = d.Call("aten::expand", d.tensor(op, 1), sizes);
  const Tensor out = d.Call("aten::clone", self, kContiguousFormat);
  return {d.Call("aten::masked_scatter_", out, mask, d.tensor(op, 2))};
}

// --- take(self, index), take_along_dim(self, indices, dim) ---------------------------------------

void TakeShape(const OpView& op, Outputs& out) {
  RequireLong(op.tensor(1));
  if (op.self().count() == 0 && op.tensor(1).count() > 0) Refuse("there is nothing to take");
  out.Add(op.self().dtype(), op.tensor(1).sizes());
}

void PutShape(const OpView& op, Outputs& out) {
  RequireLong(op.tensor(1));
  if (op.tensor(1).count() != op.tensor(2).count()) Refuse("a position for each element is needed");
  if (op.self().dtype() != op.tensor(2).dtype()) {
    Refuse("what is written must be of the tensor's dtype");
  }
  if (op.self().count() == 0 && op.tensor(1).count() > 0) Refuse("there is nowhere to put it");
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}
Work PutWork(const OpView& op) {
  const Count elements = work::Elements(op.tensor(2));
  return op.boolean(3) ? Work{.alu = elements} : Work{.move = elements};
}
std::vector<Tensor> Put(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::put_", out, d.tensor(op, 1), d.tensor(op, 2), op.arg(3))};
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

constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad = kGradientUnknown) {
  return Composite(Family::kIndexing, words, decompose, grad);
}
constexpr OpDef CallInPlace(const Words& words, DecomposeFn decompose, Gradient grad) {
  OpDef def = Call(words, decompose, grad);
  def.alias = Alias::kInPlace;
  return def;
}
constexpr OpDef Written(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work,
                        Gradient grad = kGradientUnknown) {
  return OpaqueKernel(Family::kIndexing, words, shape, allocations, work, grad, precision::kFollow,
                      Alias::kInPlace);
}

// Each element of the index, or of what is written, is one addition or comparison.
Work OfSource(const OpView& op) { return {.alu = work::Elements(op.tensor(3))}; }
Work MoveSource(const OpView& op) { return {.move = work::Elements(op.tensor(3))}; }
constexpr WorkFn kMask = work::PerOutput<PerElement{.compare = 1}>;

constexpr std::array kRows{
    Kernel(Family::kIndexing,
           {"steelyard::copied_result", "A copy that an operator writes into.",
            "(Tensor self) -> Tensor", "steelyard::copied_result(f32[4,3])"},
           {.shape = ResultShape,
            .fusion = Fusion::kOpaque,
            .allocations = ResultAllocations,
            .work = work::Move,
            .grad = kGradientUnknown,
            .precision = precision::kFollow}),
    Written({"steelyard::scatter_reduced", "Elements reduced into places, inside `scatter_reduce`.",
             "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce) -> Tensor(a!)",
             "steelyard::scatter_reduced(f32[4,3], 0, i64[2,3], f32[2,3], 'amax')"},
            ReduceIntoShape, ReduceIntoAllocations, OfSource),
    Written({"steelyard::rows_reduced", "Long rows reduced into places, inside `scatter_reduce`.",
             "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, bool include_self) "
             "-> Tensor(a!)",
             "steelyard::rows_reduced(f32[4,16], 0, i64[2,16]{1,0}, f32[2,16], 'amax', True)"},
            ReduceIntoShape, RowsAllocations, OfSource),
    Written({"steelyard::index_reduced", "Slices reduced into places, inside `index_reduce`.",
             "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce) -> Tensor(a!)",
             "steelyard::index_reduced(f32[4,3], 0, i64[2], f32[2,3], 'amax')"},
            ReduceIntoShape, allocations::None, OfSource),
    Call({"aten::scatter_reduce.two", "Elements reduced into places of a copy.",
          "(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
          "-> Tensor",
          "aten::scatter_reduce.two(f32[4,3], 0, i64[2,3], f32[2,3], 'mean')"},
         ScatterReduce, gradients::kScatterReduce),
    CallInPlace({"aten::scatter_reduce_.two", "Elements reduced into places.",
                 "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool "
                 "include_self=True) -> Tensor(a!)",
                 "aten::scatter_reduce_.two(f32[4,3], 0, i64[2,3], f32[2,3], 'amax')"},
                ScatterReduceInPlace, gradients::kScatterReduce),
    Call({"aten::index_reduce", "Slices reduced into places of a copy.",
          "(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
          "include_self=True) -> Tensor",
          "aten::index_reduce(f32[4,3], 0, i64[2], f32[2,3], 'mean')"},
         IndexReduce, gradients::kIndexReduce),
    CallInPlace({"aten::index_reduce_", "Slices reduced into places.",
                 "(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool "
                 "include_self=True) -> Tensor(a!)",
                 "aten::index_reduce_(f32[4,3], 0, i64[2], f32[2,3], 'mean')"},
                IndexReduceInPlace, gradients::kIndexReduce),
    Written({"aten::index_fill_.int_Scalar", "A number written into slices.",
             "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
             "aten::index_fill_.int_Scalar(f32[4,3], 0, i64[2], 1.0)"},
            FillShape, allocations::None, FillWork, gradients::kIndexFill),
    Call({"aten::index_fill.int_Scalar", "A copy with a number in some slices.",
          "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
          "aten::index_fill.int_Scalar(f32[4,3], 0, i64[2], 1.0)"},
         IndexFill, gradients::kIndexFill),
    CallInPlace({"aten::index_fill_.int_Tensor", "A number in a tensor written into slices.",
                 "(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
                 "aten::index_fill_.int_Tensor(f32[4,3], 0, i64[2], f32[])"},
                IndexFillByTensorInPlace, gradients::kIndexFillTensor),
    Call({"aten::index_fill.int_Tensor", "A copy with a number in some slices.",
          "(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
          "aten::index_fill.int_Tensor(f32[4,3], 0, i64[2], f32[])"},
         IndexFillByTensor, gradients::kIndexFillTensor),
    Written({"aten::index_copy_", "Slices written to places.",
             "(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
             "aten::index_copy_(f32[4,3], 0, i64[2], f32[2,3])"},
            CopySlicesInPlaceShape, allocations::None, MoveSource, gradients::kIndexCopy),
    Casting(precision::kPromoteOnCpu,
            Kernel(Family::kIndexing,
                   {"aten::index_copy", "A copy with slices written to places.",
                    "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
                    "aten::index_copy(f32[4,3], 0, i64[2], f32[2,3])"},
                   {.shape = CopySlicesShape,
                    .fusion = Fusion::kOpaque,
                    .allocations = allocations::OutputsOnly,
                    .work = work::Move,
                    .grad = gradients::kIndexCopy,
                    .precision = precision::kFollow})),
    Written({"aten::masked_scatter_", "Elements written one after the other where a mask is true.",
             "(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
             "aten::masked_scatter_(f32[4,3], bool[4,3], f32[12])"},
            MaskedScatterShape, MaskedScatterAllocations, kMask, gradients::kMaskedScatter),
    Call({"aten::masked_scatter", "A copy with elements written where a mask is true.",
          "(Tensor self, Tensor mask, Tensor source) -> Tensor",
          "aten::masked_scatter(f32[4,3], bool[4,3], f32[12])"},
         MaskedScatter, gradients::kMaskedScatter),
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
    Written({"aten::put_", "Elements written to positions in the flattened tensor.",
             "(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
             "aten::put_(f32[4,3], i64[2], f32[2])"},
            PutShape, allocations::None, PutWork, gradients::kPut),
    Call({"aten::put", "A copy with elements written to positions in the flattened tensor.",
          "(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
          "aten::put(f32[4,3], i64[2], f32[2])"},
         Put, gradients::kPut),
    Call({"aten::take_along_dim", "Elements by their positions along a dimension.",
          "(Tensor self, Tensor indices, int? dim=None) -> Tensor",
          "aten::take_along_dim(f32[2,3], i64[2,1], 1)"},
         TakeAlongDim, kGradientFromParts),
};

}  // namespace

std::span<const OpDef> Scatter() { return kRows; }

}  // namespace steelyard::ops
