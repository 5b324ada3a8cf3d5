// SPDX-License-Identifier: Apache-2.0
//
// Questions about whole tensors: whether two are close, whether elements are among others, how many
// are not zero, how often each number occurs (ATen/native/TensorCompare.cpp, SummaryOps.cpp,
// TensorAdvancedIndexing.cpp).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

bool IsWhole(DType dtype) { return !IsFloating(dtype) && !IsComplex(dtype); }

// --- isclose(self, other, rtol, atol, equal_nan) ------------------------------------------------

std::vector<Tensor> IsClose(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0), other = d.tensor(op, 1);
  if (self.dtype() != other.dtype()) Refuse("both tensors must be of one dtype");
  const double relative = op.real(2), absolute = op.real(3);
  if (relative < 0 || absolute < 0) Refuse("tolerances are not negative");
  Tensor close = d.Call("aten::eq.Tensor", self, other);
  if (op.boolean(4) && !IsWhole(self.dtype())) {
    const Tensor of_self = d.Call("aten::isnan", self), of_other = d.Call("aten::isnan", other);
    d.Call("aten::__ior__.Tensor", close, d.Call("aten::bitwise_and.Tensor", of_self, of_other));
  }
  if (relative == 0 && absolute == 0) return {close};
  const Tensor number =
      self.dtype() == DType::kBool ? d.Call("aten::to.dtype", self, kDefaultFloat) : self;
  const Tensor with =
      IsWhole(other.dtype()) ? d.Call("aten::to.dtype", other, kDefaultFloat) : other;
  const Tensor allowed =
      d.Call("aten::add.Scalar",
             d.Call("aten::abs", d.Call("aten::mul.Scalar", with, Argument::OfFloat(relative))),
             Argument::OfFloat(absolute));
  const Tensor actual = d.Call("aten::abs", d.Call("aten::sub.Tensor", number, with));
  const Tensor finite = d.Call("aten::isfinite", actual);
  const Tensor small = d.Call("aten::le.Tensor", actual, allowed);
  d.Call("aten::__iand__.Tensor", finite, small);
  d.Call("aten::__ior__.Tensor", close, finite);
  return {close};
}

std::vector<Tensor> AllClose(Dispatcher& d, const OpView& op) {
  const Tensor close =
      d.Call("aten::isclose", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4));
  d.Call("aten::item", d.Call("aten::all", close));
  return {};
}

// --- equal(self, other) -------------------------------------------------------------------------

void NoResult(const OpView&, Outputs&) {}
// Those of one size are compared, in a common dtype.
void EqualAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  if (!std::ranges::equal(self.sizes(), other.sizes()) || self.count() == 0) return;
  const DType common = ResultType({self, other});
  const auto first = allocations::Cast(self, common, memory);
  allocations::Free(allocations::Cast(other, common, memory), memory);
  allocations::Free(first, memory);
}

// --- isin(elements, test_elements, assume_unique, invert) ---------------------------------------

void AmongNumberShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("complex numbers are not looked for");
  out.Add(DType::kBool, op.self().sizes());
}
// A comparison with the boxed number that writes into the result.
void AmongNumberAllocations(const OpView& op, Allocations& memory) {
  const std::string_view label = op.boolean(3) ? "aten::ne" : "aten::eq";
  const DType common = ResultType(op.self(), {op.arg(1)});
  memory.Output(0);
  const auto box = memory.Allocate(allocations::BoxBytes(op.arg(1)), label);
  const auto self = allocations::Cast(op.self(), common, memory);
  std::optional<Allocations::Scratch> number;
  if (BoxedType(op.arg(1)) != common) {
    number = memory.Allocate(BitsOf(common) / 8, "aten::empty_strided");
  }
  memory.Free(box, label);
  if (number) memory.Free(*number, label);
  if (self) memory.Free(*self, label);
}

void AmongShape(const OpView& op, Outputs& out) {
  for (int i : {0, 1}) {
    if (IsComplex(op.tensor(i).dtype()) || op.tensor(i).dtype() == DType::kBool) {
      Refuse(shape::Text(op.tensor(i)) + " is not looked for");
    }
  }
  out.Add(DType::kBool, op.self().sizes());
}
void AmongAllocations(const OpView& op, Allocations& memory) {
  const DType common = ResultType({op.self(), op.tensor(1)});
  memory.Output(0, Allocations::kCaller);
  const auto elements = allocations::Cast(op.self(), common, memory);
  const auto others = allocations::Cast(op.tensor(1), common, memory);
  for (const auto& cast : {others, elements}) {
    if (cast) memory.Free(*cast, Allocations::kCaller);
  }
}
Work AmongWork(const OpView& op) {
  return {.compare = work::Elements(op.self()) * work::Elements(op.tensor(1))};
}

// Many are sorted together with the others: equal neighbours are found twice.
constexpr std::int64_t kOneBin = 1;
Work CountWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1))}; }

void WriteSortedAmong(Dispatcher& d, const OpView& op, const Tensor& out) {
  Tensor elements = d.tensor(op, 0), others = d.tensor(op, 1), order;
  if (op.boolean(2)) {
    elements = d.Call("aten::ravel", elements);
    others = d.Call("aten::ravel", others);
  } else {
    std::vector<Tensor> distinct = d.CallMany("aten::_unique", elements, false, true);
    elements = std::move(distinct[0]);
    order = std::move(distinct[1]);
    others = d.Call("aten::_unique", others, false);
    d.Note("aten::isin is weighed as if all elements were distinct");
  }
  Tensor all;
  {
    const std::vector<Tensor> parts{std::move(elements), std::move(others)};
    all = d.Call("aten::cat", parts, 0);
  }
  const std::vector<Tensor> sorted = d.CallMany("aten::sort.stable", all, true, 0, false);
  const Tensor twice = d.Call("aten::empty_like", sorted[0], DType::kBool);
  const std::int64_t count = sorted[0].size(0);
  {
    const Tensor next = d.Call("aten::slice.Tensor", sorted[0], 0, 1, count);
    const Tensor last = d.Call("aten::slice.Tensor", sorted[0], 0, 0, count - 1);
    const OpName test = op.boolean(3) ? OpName("aten::ne.Tensor") : OpName("aten::eq.Tensor");
    const Tensor equal = d.Call(test, next, last);
    d.Call("aten::copy_", d.Call("aten::slice.Tensor", twice, 0, 0, count - 1), equal);
  }
  d.Call("aten::fill_.Scalar", d.Call("aten::slice.Tensor", twice, 0, count - 1, count),
         op.boolean(3));
  const Tensor mask = d.Call("aten::empty_like", twice);
  d.Call("aten::index_copy_", mask, 0, sorted[1], twice);
  if (order.defined()) {
    d.Call("aten::copy_", out, d.Call("aten::index.Tensor", mask, std::vector<Tensor>{order}));
  } else {
    const Tensor first = d.Call("aten::slice.Tensor", mask, 0, 0, op.self().count());
    d.Call("aten::copy_", out, d.Call("aten::view", first, Dims(op.self().sizes())));
  }
}

// Few are compared with each (isin_Tensor_Tensor_out).
std::vector<Tensor> IsIn(Dispatcher& d, const OpView& op) {
  const double elements = static_cast<double>(op.self().count());
  const bool few =
      static_cast<double>(op.tensor(1).count()) <
      static_cast<double>(static_cast<std::int64_t>(10.0F * std::pow(elements, 0.145)));
  if (few) return {d.Call("steelyard::found_among", op.arg(0), op.arg(1), op.boolean(3))};
  const Tensor out = d.Call("steelyard::room_for_found", op.arg(0), op.arg(1));
  if (op.self().count() > 0) WriteSortedAmong(d, op, out);
  return {out};
}

// --- How many -----------------------------------------------------------------------------------

void CountShape(const OpView&, Outputs& out) { out.Add(DType::kInt64, Dims()); }

std::vector<Tensor> CountNonzeroOfDims(Dispatcher& d, const OpView& op) {
  if (op.ints(1).empty()) return {d.Call("steelyard::count_nonzero", op.arg(0))};
  const Tensor self = d.tensor(op, 0);
  const Tensor present = self.dtype() == DType::kBool ? self : d.Call("aten::ne.Scalar", self, 0);
  return {d.Call("aten::sum.dim_IntList", present, op.arg(1))};
}
std::vector<Tensor> CountNonzero(Dispatcher& d, const OpView& op) {
  const Dims dims = op.given(1) ? Dims{op.integer(1)} : Dims();
  return {d.Call("aten::count_nonzero.dim_IntList", op.arg(0), dims)};
}

// --- bincount(self, weights, minlength) ---------------------------------------------------------

// As many as the largest number and one more, which the data tell.
std::vector<Tensor> BinCount(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self(), weights = op.tensor(1);
  if (self.rank() != 1 || !IsWhole(self.dtype()) || self.dtype() == DType::kBool) {
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
  d.Call("aten::min", numbers);
  d.Call("aten::max", numbers);
  const std::optional<std::int64_t> bins = d.SizeInFile(0, 0);
  if (!bins) d.Note("aten::bincount is weighed as if all numbers were smaller than its minlength");
  const Tensor counts = d.Call("aten::zeros", Dims{bins.value_or(std::max(least, kOneBin))}, dtype);
  d.Call("steelyard::count_into", counts, numbers, weighed);
  return {counts};
}

// --- nonzero_static(self, size, fill_value) -----------------------------------------------------

void PlacesShape(const OpView& op, Outputs& out) {
  if (op.integer(1) < 0) Refuse("a negative number of places");
  out.Add(DType::kInt64, Dims{op.integer(1), op.self().rank()});
}
// The list of all of them, which may be as many as there are elements.
void PlacesAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  if (op.integer(1) == 0) return;
  const Count numbers = work::Elements(op.self()) * op.self().rank();
  memory.Free(memory.Allocate(allocations::Bytes(numbers, DType::kInt64)));
}

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

// --- Rows ---------------------------------------------------------------------------------------

// PyTorch has no derivative of sums of weights either.
constexpr Gradient kOfWeights{"NotImplemented", {GradientOf(1, {}, gradients::NotImplemented)}};
constexpr WorkFn kCompared = work::PerInput<work::PerElement{.compare = 1}>;

constexpr OpDef Asked(const Words& words, ShapeFn shape, AllocationsFn allocations,
                      WorkFn work = kCompared, Alias alias = Alias::kNone) {
  return OpaqueKernel(Family::kReduction, words, shape, allocations, work, kNoGradient,
                      precision::kFollow, alias);
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad = kNoGradient) {
  return Composite(Family::kReduction, words, decompose, grad);
}

constexpr std::array kRows{
    Call({"aten::isclose", "Whether two are equal up to a tolerance.",
          "(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
          "equal_nan=False) "
          "-> Tensor",
          "aten::isclose(f32[2,8], f32[8])"},
         IsClose, kGradientFromParts),
    Call({"aten::allclose", "Whether all elements of two are equal up to a tolerance.",
          "(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
          "equal_nan=False) "
          "-> bool",
          "aten::allclose(f32[2,8], f32[8])"},
         AllClose),
    Asked({"aten::equal", "Whether two tensors are the same.",
           "(Tensor self, Tensor other) -> bool", "aten::equal(f32[2,8], f32[2,8])"},
          NoResult, EqualAllocations),
    Asked({"aten::isin.Tensor_Scalar", "Whether elements are a number.",
           "(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
           "invert=False) -> Tensor",
           "aten::isin.Tensor_Scalar(i64[2,8], 3)"},
          AmongNumberShape, AmongNumberAllocations),
    Call({"aten::isin.Tensor_Tensor", "Whether elements are among others.",
          "(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
          "invert=False) -> Tensor",
          "aten::isin.Tensor_Tensor(i64[2,8], i64[3])"},
         IsIn),
    Asked({"steelyard::found_among", "Whether elements are among a few others.",
           "(Tensor elements, Tensor test_elements, bool invert=False) -> Tensor",
           "steelyard::found_among(i64[2,8], i64[3])"},
          AmongShape, AmongAllocations, AmongWork),
    Asked({"steelyard::room_for_found", "Room to say which elements are among others.",
           "(Tensor elements, Tensor test_elements) -> Tensor",
           "steelyard::room_for_found(i64[2,8], i64[30])"},
          AmongShape, allocations::Via<"^">, work::None),
    Call({"aten::count_nonzero", "How many elements are not zero.",
          "(Tensor self, int? dim=None) -> Tensor", "aten::count_nonzero(f32[2,8], 1)"},
         CountNonzero),
    Call({"aten::count_nonzero.dim_IntList", "How many elements of dimensions are not zero.",
          "(Tensor self, int[] dim) -> Tensor", "aten::count_nonzero.dim_IntList(f32[2,8], [1])"},
         CountNonzeroOfDims),
    Asked({"steelyard::count_nonzero", "How many of all elements are not zero.",
           "(Tensor self) -> Tensor", "steelyard::count_nonzero(f32[2,8])"},
          CountShape, allocations::Via<"aten::empty">),
    Call({"aten::bincount", "How often each number occurs, or the sums of its weights.",
          "(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
          "aten::bincount(i64[8], f32[8], 5)"},
         BinCount, kOfWeights),
    Asked({"steelyard::count_into", "Adds up how often each number occurs.",
           "(Tensor(a!) self, Tensor numbers, Tensor? weights) -> Tensor(a!)",
           "steelyard::count_into(f32[5], i64[8], f32[8])"},
          shape::SameAs<0>, allocations::None, CountWork, Alias::kInPlace),
    Asked({"aten::nonzero_static", "The first positions of elements that are not zero.",
           "(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
           "aten::nonzero_static(f32[4,4], size=6)"},
          PlacesShape, PlacesAllocations),
    Asked({"aten::histogram.bin_ct", "Counts between evenly spaced limits, and the limits.",
           "(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
           "density=False) -> (Tensor hist, Tensor bin_edges)",
           "aten::histogram.bin_ct(f32[12], 8)"},
          CountedHistogramShape, HistogramAllocations,
          work::PerInput<work::PerElement{.alu = 2, .compare = 2}>),
    Asked({"aten::histogram.bins_tensor", "Counts between given limits, and the limits.",
           "(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor "
           "hist, Tensor bin_edges)",
           "aten::histogram.bins_tensor(f32[3,4], f32[5])"},
          EdgedHistogramShape, HistogramAllocations,
          work::PerInput<work::PerElement{.alu = 2, .compare = 2}>),
};

}  // namespace

std::span<const OpDef> Equality() { return kRows; }

}  // namespace steelyard::ops
