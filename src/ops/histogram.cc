// SPDX-License-Identifier: Apache-2.0
//
// Counts of elements: of each number, and between limits that are given or evenly spaced
// (ATen/native/SummaryOps.cpp, Histogram.cpp, cpu/HistogramKernel.cpp). Each thread has counts of
// its own.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/determinism.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/not_implemented.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- bincount(self, weights, minlength) ---------------------------------------------------------

constexpr std::int64_t kOneBin = 1;

// As many as the largest number and one more, which the data tell.
std::vector<Tensor> BinCount(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self(), weights = op.tensor(1);
  if (self.rank() != 1 || IsFloating(self.dtype()) || IsComplex(self.dtype()) ||
      self.dtype() == DType::kBool) {
    Refuse("a list of integers is counted, not " + shape::Text(self));
  }
  const std::int64_t least = op.integer(2);
  if (least < 0) Refuse("a negative number of bins");
  if (weights.defined()) {
    shape::RequireRank("the weights", weights, 1);
    shape::RequireEqual("numbers and weights", self.count(), weights.count());
  }
  if (self.count() == 0) return {d.Call("aten::zeros", Dims{least}, DType::kInt64)};
  Tensor dense, weighed;
  DType dtype = DType::kInt64;
  if (weights.defined()) {
    dtype = weights.dtype() == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
    dense = d.Call("aten::contiguous", op.arg(1));
    weighed = d.Call("aten::to.dtype", dense, dtype);
  }
  const Tensor numbers = d.Call("aten::contiguous", op.arg(0));
  Tensor least_number = d.Call("aten::min", numbers);
  const bool on_cpu = d.target().device == Device::kCpu;
  if (on_cpu) least_number.reset();
  Tensor largest = d.Call("aten::max", numbers);  // on CUDA a kernel reads both
  if (on_cpu) largest.reset();
  const std::optional<std::int64_t> bins = d.SizeInFile(0, 0);
  if (!bins) d.Note("aten::bincount is weighed as if all numbers were smaller than its minlength");
  const Tensor counts = d.Call("aten::zeros", Dims{bins.value_or(std::max(least, kOneBin))}, dtype);
  d.Call("steelyard::count_into", counts, numbers, weighed);
  return {counts};
}

Work CountWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1))}; }

// --- histogram: the bins as a number or as their edges ------------------------------------------

void RequireHistogram(const OpView& op, int density_at) {
  const TensorView self = op.self();
  if (!IsFloating(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
  if (op.boolean(density_at)) Refuse("histograms of densities are not modelled");
}

// self, bins, *, range, weight, density
void CountedHistogramShape(const OpView& op, Outputs& out) {
  RequireHistogram(op, 4);
  const std::int64_t bins = op.integer(1);
  if (bins <= 0 || bins == std::numeric_limits<std::int64_t>::max()) Refuse("bins of that number");
  out.Add(op.self().dtype(), Dims{bins});
  out.Add(op.self().dtype(), Dims{bins + 1});
}

// self, bins, *, weight, density
void EdgedHistogramShape(const OpView& op, Outputs& out) {
  RequireHistogram(op, 3);
  const TensorView edges = op.tensor(1);
  shape::RequireRank("the list of edges", edges, 1);
  if (edges.dtype() != op.self().dtype()) Refuse("edges of another dtype");
  if (edges.size(0) < 2) Refuse("a histogram without bins");
  out.Add(op.self().dtype(), Dims{edges.size(0) - 1});
  out.Add(op.self().dtype(), edges.sizes());
}

// `tensor.reshape(-1)` within a kernel: a copy where no view is flat.
std::optional<Allocations::Scratch> Flat(const TensorView& tensor, Allocations& memory) {
  if (ViewStrides(tensor.sizes(), tensor.strides(), Dims{tensor.count()})) return std::nullopt;
  return allocations::Contiguous(tensor, memory);
}

// Each thread has counts of its own.
void HistogramAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.self().dtype();
  const bool counted = op.arg(1).kind == ArgKind::kInt;
  const TensorView weight = op.tensor(counted ? 3 : 2);
  const auto values = Flat(op.self(), memory);
  const auto weights = weight.defined() ? Flat(weight, memory) : std::nullopt;
  memory.Output(1);
  memory.Output(0);
  if (counted && !op.given(2) && op.self().count() > 0) {
    const auto least = memory.Allocate(allocations::Bytes(1, dtype), "aten::aminmax");
    const auto largest = memory.Allocate(allocations::Bytes(1, dtype), "aten::aminmax");
    memory.Free(largest);
    memory.Free(least);
  }
  const Count counts = Count(op.output().count()) * op.target().threads;
  memory.Free(memory.Allocate(allocations::Bytes(counts, dtype), "aten::empty"));
  allocations::Free(weights, memory);
  allocations::Free(values, memory);
}

// --- histc(self, bins, min, max) ----------------------------------------------------------------

void HistcShape(const OpView& op, Outputs& out) {
  const std::int64_t bins = op.integer(1);
  if (bins <= 0) Refuse(fmt::format("a histogram of {} bins", bins));
  if (IsFloating(op.self().dtype())) cuda::RefuseWhereDeterministic(op);
  out.Add(op.self().dtype(), Dims{bins});
}

// The edges of the bins, and the counts of a thread; equal limits are replaced by the least and the
// largest element.
void HistcAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.self().dtype();
  const std::int64_t bins = op.integer(1);
  const auto copy = Flat(op.self(), memory);
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

// cuda/SummaryOps.cu: the counts of blocks of threads are in shared memory.
void HistcOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  if (op.real(2) != op.real(3) || self.count() == 0) return;
  const std::int64_t bytes = allocations::Bytes(1, self.dtype());
  const Allocations::Scratch least = memory.Allocate(bytes, "aten::aminmax");
  const Allocations::Scratch largest = memory.Allocate(bytes, "aten::aminmax");
  cuda::StageLimits(op, self, memory);
  memory.Free(largest);
  memory.Free(least);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    CopyingOut(
        Composite(Family::kReduction,
                  {"aten::bincount", "How often each number occurs, or the sums of its weights.",
                   "(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
                   "aten::bincount(i64[8], f32[8], 5)"},
                  BinCount, gradients::kNotImplementedOf<1>)),
    OpaqueKernel(Family::kReduction,
                 {"steelyard::count_into", "Adds up how often each number occurs.",
                  "(Tensor(a!) self, Tensor numbers, Tensor? weights) -> Tensor(a!)",
                  "steelyard::count_into(f32[5], i64[8], f32[8])"},
                 shape::SameAs<0>, allocations::None, CountWork, kNoGradient, precision::kFollow,
                 Alias::kInPlace),
    OpaqueKernel(Family::kReduction,
                 {"aten::histogram.bin_ct", "Counts between evenly spaced limits, and the limits.",
                  "(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
                  "density=False) -> (Tensor hist, Tensor bin_edges)",
                  "aten::histogram.bin_ct(f32[12], 8)"},
                 CountedHistogramShape, HistogramAllocations,
                 work::PerInput<work::PerElement{.alu = 2, .compare = 2}>,
                 gradients::kNotImplementedOf<0, 3>),
    OpaqueKernel(
        Family::kReduction,
        {"aten::histogram.bins_tensor", "Counts between given limits, and the limits.",
         "(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor "
         "hist, Tensor bin_edges)",
         "aten::histogram.bins_tensor(f32[3,4], f32[5])"},
        EdgedHistogramShape, HistogramAllocations,
        work::PerInput<work::PerElement{.alu = 2, .compare = 2}>,
        gradients::kNotImplementedOf<0, 1, 2>),
    OpaqueKernel(Family::kSelection,
                 {"aten::histc", "Counts of the elements between evenly spaced limits.",
                  "(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
                  "aten::histc(f32[12], 8, 0, 7)"},
                 HistcShape, {HistcAllocations, HistcOnCuda},
                 work::PerInput<work::PerElement{.alu = 2, .compare = 2}>, kNoGradient),
};

}  // namespace

std::span<const OpDef> Histogram() { return kRows; }

}  // namespace steelyard::ops
