// SPDX-License-Identifier: Apache-2.0
//
// Elements that are not zero or that a mask chooses: how many, where, and which (ATen/native/
// TensorAdvancedIndexing.cpp). Most results are as large as their data say; without a size in the
// file they are taken to be as large as they may.

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/nonzero.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image_backward.h"
#include "ops/gradients/indexing.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// --- nonzero ------------------------------------------------------------------------------------

// Strides of rows that are written column by column; CUDA has a transposed matrix.
Dims ByColumns(const OpView& op, std::int64_t rows) {
  const bool on_cuda = op.target().device == Device::kCuda;
  return {1, on_cuda ? std::max<std::int64_t>(rows, 1) : rows};
}

// One row for each element that is not zero.
void NonzeroShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t count = out.FromData(0, 0, self.count());
  out.Add(DType::kInt64, Dims{count, self.rank()}, ByColumns(op, count));
}

void NonzeroOnCuda(const OpView& op, Allocations& memory) {
  const cuda::Searched in = cuda::SearchedIn(op.self());
  const cuda::Search search = cuda::BeginSearch(in, op.target(), memory);
  memory.Output(0);
  cuda::EndSearch(search, in, op.target(), memory);
}

Work NonzeroWork(const OpView& op) {
  return {.compare = work::Elements(op.self()), .move = work::Elements(op.output())};
}

std::vector<Tensor> Argwhere(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  return {d.Call("aten::nonzero", op.arg(0))};
}

// A number is a vector of one element here.
std::vector<Tensor> NonzeroNumpy(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  Tensor self = d.tensor(op, 0);
  if (self.rank() == 0) self = d.Call("aten::unsqueeze", self, 0);
  return d.CallMany("aten::unbind.int", d.Call("aten::nonzero", self), 1);
}

std::vector<Tensor> Where(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  return NonzeroNumpy(d, op);
}

// --- nonzero_static(self, size, fill_value) -----------------------------------------------------

void PlacesShape(const OpView& op, Outputs& out) {
  if (op.integer(1) < 0) Refuse("a negative number of places");
  const Dims sizes{op.integer(1), op.self().rank()};
  const bool on_cuda = op.target().device == Device::kCuda;
  out.Add(DType::kInt64, sizes, on_cuda ? ByColumns(op, sizes[0]) : ContiguousStrides(sizes));
}

// The list of all of them, which may be as many as there are elements.
void PlacesAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  if (op.integer(1) == 0) return;
  const Count numbers = work::Elements(op.self()) * op.self().rank();
  memory.Free(memory.Allocate(allocations::Bytes(numbers, DType::kInt64)));
}

// On CUDA as many blocks of threads as there are multiprocessors (of single bytes twice as many),
// or fewer, count what each finds in tiles, and the counts are added up.
void PlacesOnCuda(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kNumberBytes = 4, kTile = std::int64_t{512} * 16;
  memory.Output(0, "aten::empty");
  if (op.integer(1) == 0 || op.self().count() == 0) return;
  const auto copy = cuda::Contiguous(op.self(), memory);
  const std::int64_t count = op.self().count();
  const std::int64_t each = BitsOf(op.self().dtype()) == 8 ? 2 : 1;
  const std::int64_t most = op.target().multiprocessors * each;
  const std::int64_t tiles = DivideUp(DivideUp(count, kTile), most);
  const std::int64_t blocks = DivideUp(count, kTile * tiles);
  const auto counts = memory.Allocate(blocks * kNumberBytes);
  memory.Free(memory.Allocate(2 * blocks * kNumberBytes));
  memory.Free(counts);
  allocations::Free(copy, memory);
}

// --- count_nonzero ------------------------------------------------------------------------------

void CountShape(const OpView&, Outputs& out) { out.Add(DType::kInt64, Dims()); }

std::vector<Tensor> CountNonzeroOfDims(Dispatcher& d, const OpView& op) {
  const bool on_cpu = d.target().device == Device::kCpu;
  if (op.ints(1).empty() && on_cpu) return {d.Call("steelyard::count_nonzero", op.arg(0))};
  const Tensor self = d.tensor(op, 0);
  const Tensor present = self.dtype() == DType::kBool ? self : d.Call("aten::ne.Scalar", self, 0);
  return {d.Call("aten::sum.dim_IntList", present, op.arg(1))};
}

std::vector<Tensor> CountNonzero(Dispatcher& d, const OpView& op) {
  const Dims dims = op.given(1) ? Dims{op.integer(1)} : Dims();
  return {d.Call("aten::count_nonzero.dim_IntList", op.arg(0), dims)};
}

// --- masked_select ------------------------------------------------------------------------------

Count Candidates(const OpView& op) {
  return work::Elements(shape::Broadcast({op.self(), op.tensor(1)}));
}

void SelectedShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), mask = op.tensor(1);
  if (mask.dtype() != DType::kBool) Refuse("a mask must be bool, not " + shape::Text(mask));
  const Count count = Candidates(op);
  if (count.overflowed()) Contradict("the mask has more than 2^63 elements");
  out.Add(self.dtype(), Dims{out.FromData(0, 0, count.value())});
}

// The selected are counted first, in an int64 copy of the mask; operands in another order than the
// result's are walked by two lists of positions.
void SelectedAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), mask = op.tensor(1);
  const std::int64_t positions = allocations::Bytes(Candidates(op), DType::kInt64);
  const Allocations::Scratch count = memory.Allocate(BitsOf(DType::kInt64) / 8, "aten::sum");
  memory.Free(memory.Allocate(positions, "aten::empty_strided"), "aten::sum");
  memory.Free(count);
  memory.Output(0);
  // Equal counts: expanding either adds dimensions of size 1 at most.
  const bool in_order =
      self.is_contiguous() && mask.is_contiguous() && self.count() == mask.count();
  if (in_order) return;
  const Allocations::Scratch first = memory.Allocate(positions, "aten::empty");
  memory.Free(memory.Allocate(positions, "aten::empty"));
  memory.Free(first);
}

// Both are expanded and the tensor is indexed by the mask: a list of positions for each dimension.
void SelectedOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), mask = op.tensor(1);
  const Dims sizes = shape::Broadcast({self, mask});
  cuda::Searched in{.elements = Candidates(op), .rank = std::max(sizes.size(), 1)};
  if (!mask.is_contiguous() || mask.count() != in.elements.value()) {
    in.copied = allocations::Bytes(in.elements, DType::kBool);
  }
  const cuda::Search search = cuda::BeginSearch(in, op.target(), memory);
  const auto positions =
      memory.Allocate(allocations::Bytes(Count(op.output().count()) * in.rank, DType::kInt64));
  cuda::EndSearch(search, in, op.target(), memory);
  memory.Output(0);
  memory.Free(positions);
}

Work SelectedWork(const OpView& op) {
  return {.compare = Candidates(op), .move = work::Elements(op.output())};
}

// What the mask chose, filled up with zeros. It chose no more than there was to write.
std::vector<Tensor> MaskedScatterBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = op.ints(2);
  const std::int64_t count = work::Elements(sizes).value();
  const bool fewer = count >= 0 && count < Candidates(op).value();  // -1: as many as there are
  if (fewer) {
    d.Note(
        "masked_scatter, of the backward pass, is weighed as if its mask chose a place for every "
        "element of the source");
  }
  const Dispatcher::WithSize size(d, fewer ? std::optional(count) : std::nullopt);
  d.CallWith("steelyard::stand_in",
             {});  // how many are chosen, and hence the rest, only the mask tells
  Tensor chosen = d.Call("aten::masked_select", op.arg(0), op.arg(1));
  if (count > chosen.count()) {
    Tensor rest = d.Call("aten::zeros", Dims{count - chosen.count()}, chosen.dtype());
    Tensor both = d.Call("aten::cat", std::vector<Tensor>{chosen, rest}, 0);
    rest.reset();  // the elements of a braced list end last first
    chosen = std::move(both);
  }
  return {d.Call("aten::view", chosen, sizes)};
}

// Zeros as large as the mask and the tensor broadcast to.
std::vector<Tensor> MaskedSelectBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.tensor(1), op.tensor(2)});
  Tensor whole = d.Call("aten::expand", op.arg(1), sizes);
  const Tensor zeros = d.Call("aten::zeros_like", whole);
  whole.reset();
  d.Call("aten::masked_scatter_", zeros, op.arg(2), op.arg(0));
  return {zeros};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    OpaqueKernel(Family::kIndexing,
                 {"aten::nonzero", "Positions of the elements that are not zero.",
                  "(Tensor self) -> Tensor", "aten::nonzero(bool[4,6])"},
                 NonzeroShape, {allocations::OutputsOnly, NonzeroOnCuda}, NonzeroWork, kNoGradient),
    Composite("aten::argwhere", "Positions of the elements that are not zero.",
              "(Tensor self) -> Tensor", "aten::argwhere(bool[4,6])", Family::kIndexing, Argwhere,
              precision::kFollow),
    Composite("aten::nonzero_numpy",
              "Positions of the elements that are not zero, a list for each dimension.",
              "(Tensor self) -> Tensor[]", "aten::nonzero_numpy(bool[4,6])", Family::kIndexing,
              NonzeroNumpy, precision::kFollow),
    Composite("aten::where",
              "Positions of the elements that are not zero, a list for each dimension.",
              "(Tensor condition) -> Tensor[]", "aten::where(bool[4,6])", Family::kIndexing, Where,
              precision::kFollow),
    OpaqueKernel(Family::kReduction,
                 {"aten::nonzero_static", "The first positions of elements that are not zero.",
                  "(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
                  "aten::nonzero_static(f32[4,4], size=6)"},
                 PlacesShape, {PlacesAllocations, PlacesOnCuda},
                 work::PerInput<work::PerElement{.compare = 1}>, kNoGradient),
    CopyingOut(
        Composite(Family::kReduction,
                  {"aten::count_nonzero", "How many elements are not zero.",
                   "(Tensor self, int? dim=None) -> Tensor", "aten::count_nonzero(f32[2,8], 1)"},
                  CountNonzero, kNoGradient)),
    CopyingOut(Composite(
        Family::kReduction,
        {"aten::count_nonzero.dim_IntList", "How many elements of dimensions are not zero.",
         "(Tensor self, int[] dim) -> Tensor", "aten::count_nonzero.dim_IntList(f32[2,8], [1])"},
        CountNonzeroOfDims, kNoGradient)),
    OpaqueKernel(Family::kReduction,
                 {"steelyard::count_nonzero", "How many of all elements are not zero.",
                  "(Tensor self) -> Tensor", "steelyard::count_nonzero(f32[2,8])"},
                 CountShape, allocations::Via<"aten::empty">,
                 work::PerInput<work::PerElement{.compare = 1}>, kNoGradient),
    OpaqueKernel(
        Family::kIndexing,
        {"aten::masked_select", "Elements chosen by a mask.",
         "(Tensor self, Tensor mask) -> Tensor", "aten::masked_select(f32[4,6], bool[4,6])"},
        SelectedShape, {SelectedAllocations, SelectedOnCuda}, SelectedWork,
        gradients::kMaskedSelect),
    Composite("aten::masked_select_backward", "The gradient of elements chosen by a mask.",
              "(Tensor grad, Tensor input, Tensor mask) -> Tensor",
              "aten::masked_select_backward(f32[24], f32[4,6], bool[4,6])", Family::kIndexing,
              MaskedSelectBackward, precision::kFollow),
    Composite("aten::masked_scatter_backward",
              "The gradient of elements written where a mask holds.",
              "(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
              "aten::masked_scatter_backward(f32[4,6], bool[4,6], [30])", Family::kIndexing,
              MaskedScatterBackward, precision::kFollow, gradients::kMaskedScatterBackward),
};

}  // namespace

std::span<const OpDef> Selection() { return kRows; }

}  // namespace steelyard::ops
