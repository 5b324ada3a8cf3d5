// SPDX-License-Identifier: Apache-2.0
//
// Reductions of stretches of a dimension, whose lengths or borders a tensor says
// (ATen/native/SegmentReduce.cpp, cuda/SegmentReduce.cu). Lengths are checked first, which reads
// them; on CUDA what is given is made into the other one, too.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Where the arguments of both operators stand. Of the gradient's the dimension is not looked at.
struct Places {
  int data, reduce, lengths, offsets, axis, initial;
  bool has_axis;
};
// data, reduce, lengths, indices, offsets, axis, unsafe, initial
constexpr Places kForward{
    .data = 0, .reduce = 1, .lengths = 2, .offsets = 4, .axis = 5, .initial = 7, .has_axis = true};
// grad, output, data, reduce, lengths, offsets, axis, initial
constexpr Places kBackward{
    .data = 2, .reduce = 3, .lengths = 4, .offsets = 5, .axis = 6, .initial = 7, .has_axis = false};

void RequireSegments(const OpView& op, const Places& at) {
  constexpr std::array<std::string_view, 5> kReductions{"max", "mean", "min", "sum", "prod"};
  if (std::ranges::find(kReductions, op.text(at.reduce)) == kReductions.end()) {
    Refuse("no reduction is called " + std::string(op.text(at.reduce)));
  }
  if (!op.given(at.lengths) && !op.given(at.offsets)) {
    Refuse("neither the lengths of segments nor their offsets are given");
  }
  const TensorView data = op.tensor(at.data);
  const TensorView borders = op.tensor(op.given(at.offsets) ? at.offsets : at.lengths);
  RequireIndex(borders);
  if (!IsFloating(data.dtype())) Refuse("segments are reduced of floating-point numbers");
  const int axis = at.has_axis ? op.dim(at.axis, data.rank()) : borders.rank() - 1;
  if (borders.rank() == 0 || borders.rank() > data.rank() || axis != borders.rank() - 1) {
    Refuse("segments lie in the last dimension of " + shape::Text(borders) + ", not in dimension " +
           std::to_string(axis));
  }
  if (op.given(at.offsets) && borders.size(axis) == 0) Refuse("offsets have an end, too");
}

void RequireLengths(Dispatcher& d, const OpView& op) {
  const Tensor lengths = d.tensor(op, kForward.lengths);
  d.Call("aten::item", d.Call("aten::min", lengths));
  const std::int64_t all = op.self().size(lengths.rank() - 1);
  const Tensor sums = d.Call("aten::sum.dim_IntList", lengths, Dims{-1});
  const Tensor whole = d.Call("aten::eq.Scalar", sums, all);
  d.Call("aten::item", d.Call("aten::all", whole));
}

// Lengths and offsets, of which the kernels on CUDA read both.
std::vector<Tensor> Borders(Dispatcher& d, const Tensor& given, bool are_offsets) {
  if (d.target().device != Device::kCuda) return {};
  if (are_offsets) return {d.Call("aten::diff", given)};
  const int axis = given.rank() - 1;
  Dims first(given.sizes());
  first[axis] = 1;
  const Tensor offsets = d.Call(
      "aten::cat", std::vector<Tensor>{d.Call("aten::zeros", first, given.dtype()), given}, axis);
  return {d.Call("aten::cumsum_", offsets, axis)};
}

std::vector<Tensor> ReduceSegments(Dispatcher& d, const OpView& op) {
  RequireSegments(op, kForward);
  if (op.given(3)) Refuse("segments are not given by indices");
  const Tensor data = d.Call("aten::contiguous", d.tensor(op, 0));
  const bool are_offsets = op.given(kForward.offsets);
  if (!are_offsets && !op.boolean(6, false)) RequireLengths(d, op);
  const Tensor borders =
      d.Call("aten::contiguous", d.tensor(op, are_offsets ? kForward.offsets : kForward.lengths));
  const int axis = borders.rank() - 1;
  Dims sizes(data.sizes());
  sizes[axis] = borders.size(axis) - (are_offsets ? 1 : 0);
  const Tensor out = d.Call("aten::empty.memory_format", sizes, data.dtype());
  const std::vector<Tensor> others = Borders(d, borders, are_offsets);
  return {d.Call("steelyard::reduce_segments_", out, data, op.arg(1), borders, are_offsets,
                 op.arg(kForward.initial))};
}

std::vector<Tensor> SpreadSegments(Dispatcher& d, const OpView& op) {
  RequireSegments(op, kBackward);
  const Tensor grad = d.Call("aten::contiguous", d.tensor(op, 0));
  const Tensor output = d.Call("aten::contiguous", d.tensor(op, 1));
  const Tensor data = d.Call("aten::contiguous", d.tensor(op, 2));
  const bool are_offsets = op.given(kBackward.offsets);
  const Tensor borders =
      d.Call("aten::contiguous", d.tensor(op, are_offsets ? kBackward.offsets : kBackward.lengths));
  const Tensor out = d.Call("aten::zeros", Dims(data.sizes()), grad.dtype());
  const std::vector<Tensor> others = Borders(d, borders, are_offsets);
  return {d.Call("steelyard::spread_segments_", out, grad, output, data, op.arg(3), borders,
                 are_offsets, op.arg(kBackward.initial))};
}

// --- Rows ---------------------------------------------------------------------------------------

template <int kData>
Work OfData(const OpView& op) {
  return {.alu = work::Elements(op.tensor(kData))};
}

// Reductions to one number each are the library CUB's, which asks for a byte of its own.
void ReduceOnCuda(const OpView& op, Allocations& memory) {
  if (op.self().rank() == 1) memory.Free(memory.Allocate(1));
}

constexpr Gradient kNoGradientOfSpread{
    "NotImplemented",
    {GradientOf(0, {}, gradients::NotImplemented), GradientOf(1, {}, gradients::NotImplemented),
     GradientOf(2, {}, gradients::NotImplemented)}};

constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad) {
  return Composite(Family::kIndexing, words, decompose, grad);
}

constexpr std::array kRows{
    OpaqueKernel(Family::kIndexing,
                 {"steelyard::reduce_segments_", "Segments reduced, inside `segment_reduce`.",
                  "(Tensor(a!) self, Tensor data, str reduce, Tensor borders, bool are_offsets, "
                  "Scalar? initial=None) -> Tensor(a!)",
                  "steelyard::reduce_segments_(f32[2,3], f32[4,3], 'max', i64[3], True)"},
                 shape::SameAs<0>, DeviceAllocations{allocations::None, ReduceOnCuda}, OfData<1>,
                 kGradientUnknown, precision::kFollow, Alias::kInPlace),
    Written(
        {"steelyard::spread_segments_", "Gradients of segments, inside `_segment_reduce_backward`.",
         "(Tensor(a!) self, Tensor grad, Tensor output, Tensor data, str reduce, Tensor "
         "borders, bool are_offsets, Scalar? initial=None) -> Tensor(a!)",
         "steelyard::spread_segments_(f32[4,3], f32[2,3], f32[2,3], f32[4,3], 'max', i64[3], "
         "True)"},
        shape::SameAs<0>, allocations::None, OfData<3>),
    CopyingOut(
        Call({"aten::segment_reduce", "Stretches of a dimension reduced, each to one.",
              "(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
              "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
              "aten::segment_reduce(f32[4,3], 'max', offsets=i64[3])"},
             ReduceSegments, gradients::kSegmentReduce)),
    CopyingOut(Call(
        {"aten::_segment_reduce_backward", "The gradient of segment_reduce.",
         "(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor? "
         "offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
         "aten::_segment_reduce_backward(f32[2,3], f32[2,3], f32[4,3], 'max', offsets=i64[3])"},
        SpreadSegments, kNoGradientOfSpread)),
};

}  // namespace

std::span<const OpDef> SegmentReduce() { return kRows; }

}  // namespace steelyard::ops
