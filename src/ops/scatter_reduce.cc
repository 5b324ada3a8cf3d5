// SPDX-License-Identifier: Apache-2.0
//
// Elements reduced into places that an index says: one place for each element, or one for each
// slice (ATen/native/TensorAdvancedIndexing.cpp). The result is a copy that is written into; means
// are sums divided by counts.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// The row-major result of an operator that copies its first argument into it.
void ResultShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.self().sizes()); }

void ResultAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
}

Tensor ResultOf(Dispatcher& d, const Tensor& self) {
  return d.Call("steelyard::copied_result", self);
}

// What was reduced into each place is counted, the place itself too if it is included.
Tensor NewCounts(Dispatcher& d, const Tensor& out, bool includes) {
  return d.Call(includes ? OpName("aten::ones_like") : OpName("aten::zeros_like"), out);
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

// What changes nothing when it is reduced with a number.
double NeutralOf(std::string_view reduction, const Tensor& of) {
  if (reduction == "prod") return 1;
  if (!IsFloating(of.dtype()) || reduction == "sum" || reduction == "mean") return 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return reduction == "amax" ? -kInfinity : kInfinity;
}

// --- scatter_reduce(self, dim, index, src, reduce, include_self) --------------------------------

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
  if (op.target().device == Device::kCuda) return false;
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

std::vector<Tensor> ScatterReduceInto(Dispatcher& d, const OpView& op, const Tensor& out) {
  RequireScatter(op);
  if (!IsReduction(op.text(4))) Refuse(fmt::format("no reduction is called {}", op.text(4)));
  if (op.tensor(2).count() == 0) return {out};
  const bool includes = op.boolean(5, true);
  const Tensor index = d.tensor(op, 2), source = d.tensor(op, 3);
  if (op.text(4) != "prod" && ByLongRows(op)) {
    return {d.Call("steelyard::rows_reduced", out, op.arg(1), index, source, op.arg(4), includes)};
  }
  if (op.text(4) == "prod") cuda::RefuseWhereDeterministic(op);
  if (!includes) d.Call("aten::scatter_.value", out, op.arg(1), index, NeutralOf(op.text(4), out));
  d.Call("steelyard::scatter_reduced", out, op.arg(1), index, source, op.arg(4));
  if (op.text(4) != "mean") return {out};
  const Tensor ones = d.Call("aten::ones_like", source);
  const Tensor counts = NewCounts(d, out, includes);
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

// --- index_reduce(self, dim, index, source, reduce, include_self) -------------------------------

// Of a vector the kernel counts on its way, whatever the reduction is; else slices are counted in a
// step of its own, for means alone.
std::vector<Tensor> IndexReduceInto(Dispatcher& d, const OpView& op, const Tensor& out) {
  const bool on_cpu = d.target().device == Device::kCpu;
  cuda::RefuseWhereDeterministic(op);
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
  Tensor places;
  if (on_cpu) places = d.Call("aten::contiguous", d.tensor(op, 2));
  if (on_cpu && out.rank() <= 1) {
    const Tensor counts = NewCounts(d, out, includes);
    d.Call("steelyard::index_reduced_and_counted", out, counts, d.tensor(op, 2), d.tensor(op, 3),
           op.arg(4));
    if (op.text(4) == "mean") DivideByCounts(d, out, counts);
    return {out};
  }
  d.Call("steelyard::index_reduced", out, op.arg(1), d.tensor(op, 2), d.tensor(op, 3), op.arg(4));
  if (op.text(4) != "mean") return {out};
  const Tensor counts = NewCounts(d, out, includes);
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
  if (op.tensor(2).count() == 0 && d.target().device == Device::kCpu) return {d.tensor(op, 0)};
  return IndexReduceInto(d, op, d.tensor(op, 0));
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

// Each element of the index, or of what is written, is one addition or comparison.
Work OfSource(const OpView& op) { return {.alu = work::Elements(op.tensor(3))}; }

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
    Written({"steelyard::index_reduced_and_counted",
             "Numbers reduced into places and counted, inside `index_reduce`.",
             "(Tensor(a!) self, Tensor(b!) counts, Tensor index, Tensor src, str reduce) -> "
             "Tensor(a!)",
             "steelyard::index_reduced_and_counted(f32[4], f32[4], i64[2], f32[2], 'amax')"},
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
};

}  // namespace

std::span<const OpDef> ScatterReduce() { return kRows; }

}  // namespace steelyard::ops
