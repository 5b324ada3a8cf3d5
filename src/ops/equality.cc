// SPDX-License-Identifier: Apache-2.0
//
// Whether two tensors are equal or close, and whether elements are equal to any of others
// (ATen/native/TensorCompare.cpp). Few others are compared with each element; many are sorted
// together with them.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- isclose(self, other, rtol, atol, equal_nan) ------------------------------------------------

bool IsWhole(DType dtype) { return !IsFloating(dtype) && !IsComplex(dtype); }

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

// Those of one size are compared, in a common dtype.
void EqualAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  if (!std::ranges::equal(self.sizes(), other.sizes()) || self.count() == 0) return;
  const DType common = ResultType({self, other});
  const auto first = allocations::Cast(self, common, memory);
  allocations::Free(allocations::Cast(other, common, memory), memory);
  allocations::Free(first, memory);
}

// On CUDA all comparisons are made, then reduced.
void EqualOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  if (!std::ranges::equal(self.sizes(), other.sizes()) || self.count() == 0) return;
  const auto same = memory.Allocate(self.count(), "aten::eq");
  const auto all = memory.Allocate(1, "aten::all");
  const Dims flat{self.count()}, strides{1};
  cuda::Stage(op, {flat, strides}, DType::kBool, 1, {.bytes = 1}, memory);
  memory.Free(all);
  memory.Free(same);
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

// Every comparison is kept.
void AmongOnCuda(const OpView& op, Allocations& memory) {
  const TensorView elements = op.self(), others = op.tensor(1);
  memory.Output(0, Allocations::kCaller);
  const auto same =
      memory.Allocate(allocations::Bytes(Count(elements.count()) * others.count(), DType::kBool));
  const auto found = memory.Allocate(elements.count());
  const Dims pairs{elements.count(), others.count()};
  cuda::Stage(op, {pairs, ContiguousStrides(pairs)}, DType::kBool, 2, {.bytes = 1}, memory);
  memory.Free(found);
  memory.Free(same);
}

Work AmongWork(const OpView& op) {
  return {.compare = work::Elements(op.self()) * work::Elements(op.tensor(1))};
}

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

// --- Rows ---------------------------------------------------------------------------------------

constexpr WorkFn kCompared = work::PerInput<work::PerElement{.compare = 1}>;

constexpr OpDef Asked(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                      WorkFn work = kCompared) {
  return OpaqueKernel(Family::kReduction, words, shape, allocations, work, kNoGradient);
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
          shape::None, {EqualAllocations, EqualOnCuda}),
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
          AmongShape, {AmongAllocations, AmongOnCuda}, AmongWork),
    Asked({"steelyard::room_for_found", "Room to say which elements are among others.",
           "(Tensor elements, Tensor test_elements) -> Tensor",
           "steelyard::room_for_found(i64[2,8], i64[30])"},
          AmongShape, allocations::Via<"^">, work::None),
};

}  // namespace

std::span<const OpDef> Equality() { return kRows; }

}  // namespace steelyard::ops
