// SPDX-License-Identifier: Apache-2.0
//
// Fresh tensors, filled or not, and what fills tensors in place.

#include "ops/gradients/factory.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "ops/contents/words.h"
#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/not_implemented.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

Dims SizesAt(const OpView& op, int i) {
  const Dims sizes = op.ints(i);
  shape::RequireSizes(sizes);
  return sizes;
}

// The dtype of a tensor filled with that number, if none is asked for.
DType FilledType(const Argument& number) {
  const DType boxed = BoxedType(number);
  if (IsComplex(boxed)) return DType::kComplex64;
  return IsFloating(boxed) ? kDefaultFloat : boxed;
}

// --- Of given sizes -----------------------------------------------------------------------------

template <int kSizes, int kDType>
void NewShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(kDType).value_or(kDefaultFloat), SizesAt(op, kSizes));
}
template <int kSizes, int kDType>
void NewLongShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(kDType).value_or(DType::kInt64), SizesAt(op, kSizes));
}
template <int kDType>
void NewOfSelfShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(kDType).value_or(op.self().dtype()), SizesAt(op, 1));
}
void FullShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(2).value_or(FilledType(op.arg(1))), SizesAt(op, 0));
}
void EmptyShape(const OpView& op, Outputs& out) {
  const Dims sizes = SizesAt(op, 0);
  const MemoryFormat format = FormatOf(op, 5, MemoryFormat::kContiguous);
  out.Add(op.dtype(1).value_or(kDefaultFloat), sizes, StridesIn(format, sizes));
}
void EmptyStridedOf(const OpView& op, int sizes_at, DType dtype, Outputs& out) {
  const Dims sizes = SizesAt(op, sizes_at);
  const Dims strides = SizesAt(op, sizes_at + 1);
  shape::RequireEqual("numbers of sizes and strides", sizes.size(), strides.size());
  out.Add(dtype, sizes, strides);
}
void EmptyStridedShape(const OpView& op, Outputs& out) {
  EmptyStridedOf(op, 0, op.dtype(2).value_or(kDefaultFloat), out);
}
void NewEmptyStridedShape(const OpView& op, Outputs& out) {
  EmptyStridedOf(op, 1, op.dtype(3).value_or(op.self().dtype()), out);
}

// --- Like another -------------------------------------------------------------------------------

template <int kDType>
void LikeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const MemoryFormat format = FormatOf(op, kDType + 4, MemoryFormat::kPreserve);
  out.Add(op.dtype(kDType).value_or(self.dtype()), self.sizes(), StridesIn(format, self));
}

template <int kDType>
void LikeAllocations(const OpView& op, Allocations& memory) {
  const bool preserved =
      FormatOf(op, kDType + 4, MemoryFormat::kPreserve) == MemoryFormat::kPreserve;
  memory.Output(0, preserved ? "aten::empty_strided" : "aten::empty");
}

// --- arange -------------------------------------------------------------------------------------

struct Range {
  Argument start, end, step;
  std::optional<DType> asked;
};

double RealOfNumber(const Argument& number) {
  return number.kind == ArgKind::kFloat ? number.real : static_cast<double>(number.dim.number());
}

// The number of elements, exact if all three are integers, else in double (arange_out in
// ATen/native/RangeFactories.cpp).
std::int64_t LengthOf(double start, double end, double step) {
  constexpr double kMost = 9.2e18;
  const double length = (end - start) / step;
  if (!(length >= 0) || length > kMost) {
    Refuse(fmt::format("no range from {} to {} by {}", start, end, step));
  }
  return static_cast<std::int64_t>(std::ceil(length));
}
std::int64_t LengthOf(std::int64_t start, std::int64_t end, std::int64_t step) {
  std::int64_t span = 0;
  if (__builtin_sub_overflow(end, start, &span) || step == INT64_MIN ||
      (span != 0 && (span > 0) != (step > 0))) {
    Refuse(fmt::format("no range from {} to {} by {}", start, end, step));
  }
  return span / step + (span % step != 0);
}

void RequireNumber(const Argument& a) {
  const bool number = (a.kind == ArgKind::kFloat && !std::isnan(a.real)) ||
                      ((a.kind == ArgKind::kInt || a.kind == ArgKind::kBool) && a.dim.is_number());
  if (!number) Refuse("the bounds of a range must be known numbers");
}

void AddRange(const Range& range, Outputs& out) {
  bool whole = true;
  for (const Argument* a : {&range.start, &range.end, &range.step}) {
    RequireNumber(*a);
    whole = whole && a->kind != ArgKind::kFloat;
  }
  const DType dtype = range.asked.value_or(whole ? DType::kInt64 : kDefaultFloat);
  const double step = RealOfNumber(range.step);
  if (step == 0) Refuse("the step of a range is 0");
  const std::int64_t length =
      whole ? LengthOf(range.start.dim.number(), range.end.dim.number(), range.step.dim.number())
            : LengthOf(RealOfNumber(range.start), RealOfNumber(range.end), step);
  out.Add(dtype, Dims{length});
}

void ArangeShape(const OpView& op, Outputs& out) {
  AddRange({Argument::OfInt(0), op.arg(0), Argument::OfInt(1), op.dtype(1)}, out);
}
void ArangeStartShape(const OpView& op, Outputs& out) {
  AddRange({op.arg(0), op.arg(1), Argument::OfInt(1), op.dtype(2)}, out);
}
void ArangeStepShape(const OpView& op, Outputs& out) {
  AddRange({op.arg(0), op.arg(1), op.arg(2), op.dtype(3)}, out);
}

// --- Sequences with both ends -------------------------------------------------------------------

// start, end, steps, ...
template <int kSteps, int kDType = kSteps + 1>
void EvenShape(const OpView& op, Outputs& out) {
  const std::int64_t steps = op.integer(kSteps);
  if (steps < 0) Refuse(fmt::format("{} steps", steps));
  DType dtype = kDefaultFloat;
  for (int i : {0, 1}) {
    if (op.arg(i).kind == ArgKind::kComplex) dtype = DType::kComplex64;
    if (op.arg(i).kind != ArgKind::kValue) continue;
    shape::RequireRank("the end of a sequence", op.tensor(i), 0);
    if (IsComplex(op.tensor(i).dtype())) dtype = DType::kComplex64;
  }
  out.Add(op.dtype(kDType).value_or(dtype), Dims{steps});
}

// `end` is among them (range_out in ATen/native/RangeFactories.cpp): in the default dtype, whatever
// the numbers are.
void AddClosedRange(const Range& range, Outputs& out) {
  for (const Argument* a : {&range.start, &range.end, &range.step}) RequireNumber(*a);
  const double step = RealOfNumber(range.step);
  const double span = (RealOfNumber(range.end) - RealOfNumber(range.start)) / step;
  constexpr double kMost = 9.2e18;
  if (!(span >= 0) || span > kMost) Refuse("no such range");
  out.Add(range.asked.value_or(kDefaultFloat), Dims{static_cast<std::int64_t>(span) + 1});
}
void ClosedRangeShape(const OpView& op, Outputs& out) {
  AddClosedRange({op.arg(0), op.arg(1), Argument::OfInt(1), op.dtype(2)}, out);
}
void ClosedRangeStepShape(const OpView& op, Outputs& out) {
  AddClosedRange({op.arg(0), op.arg(1), op.arg(2), op.dtype(3)}, out);
}

// x, N, increasing: ones, and running products of x (ATen/native/LinearAlgebra.cpp)
std::vector<Tensor> Vandermonde(Dispatcher& d, const OpView& op) {
  const TensorView x = op.self();
  shape::RequireRank("the vector", x, 1);
  const std::int64_t count = op.integer(1, x.size(0));
  if (count < 0) Refuse(fmt::format("{} columns", count));
  const DType dtype = IsFloating(x.dtype()) || IsComplex(x.dtype()) ? x.dtype() : DType::kInt64;
  Tensor out = d.Call("aten::empty.memory_format", Dims{x.size(0), count}, dtype);
  if (count > 0) {
    d.Call("aten::fill_.Scalar", d.Call("aten::select.int", out, 1, 0), 1);
  }
  if (count > 1) {
    const Tensor column = d.Call("aten::unsqueeze", d.tensor(op, 0), 1);
    d.Call("aten::copy_", d.Call("aten::slice.Tensor", out, 1, 1), column);
    const Tensor powers = d.Call("aten::slice.Tensor", out, 1, 1);
    d.Call("aten::copy_", d.Call("aten::slice.Tensor", out, 1, 1),
           d.Call("aten::cumprod", powers, 1));
  }
  if (op.boolean(2)) return {out};
  return {d.Call("aten::flip", out, Dims{1})};
}

// --- Others -------------------------------------------------------------------------------------

void EyeShape(const OpView& op, Outputs& out) {
  const std::int64_t n = op.integer(0);
  const Dims sizes{n, n};
  shape::RequireSizes(sizes);
  out.Add(op.dtype(1).value_or(kDefaultFloat), sizes);
}

void RectangularEyeShape(const OpView& op, Outputs& out) {
  const Dims sizes{op.integer(0), op.integer(1)};
  shape::RequireSizes(sizes);
  out.Add(op.dtype(2).value_or(kDefaultFloat), sizes);
}

void ScalarTensorShape(const OpView& op, Outputs& out) {
  out.Add(op.dtype(1).value_or(FilledType(op.arg(0))), Dims());
}

void BoxShape(const OpView& op, Outputs& out) { out.AddWrappedNumber(BoxedType(op.arg(0))); }
void BoxImaginaryShape(const OpView&, Outputs& out) { out.AddWrappedNumber(DType::kComplex128); }
void BoxAllocations(const OpView&, Allocations& memory) { memory.Output(0, Allocations::kCaller); }

std::vector<Tensor> Fill(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::empty_like", d.tensor(op, 0));
  return {d.Call("aten::fill_.Scalar", out, op.arg(1))};
}

std::vector<Tensor> FillWithTensor(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::empty_like", d.tensor(op, 0));
  return {d.Call("aten::fill_.Tensor", out, op.arg(1))};
}

// --- Makers -------------------------------------------------------------------------------------

constexpr OpDef Fresh(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, ShapeFn shape,
                      DeviceAllocations allocations = allocations::Via<"aten::empty">) {
  return Kernel(
      Family::kFactory, {name, summary, signature, example},
      {shape, Fusion::kElementwise, allocations, work::Move, kNoGradient, precision::kFollow},
      Alias::kNone, traffic::WriteOnly);
}

// Autograd knows no gradient of ends that are in tensors.
constexpr OpDef NumbersBetween(const Words& words, ShapeFn shape) {
  return Kernel(Family::kFactory, words,
                {shape, Fusion::kElementwise, allocations::Via<"aten::empty">, work::Move,
                 gradients::kNotImplementedOf<0, 1>, precision::kFollow},
                Alias::kNone, traffic::WriteOnly);
}

// Nothing is written into it.
constexpr OpDef Unfilled(OpName name, std::string_view summary, Signature signature,
                         std::string_view example, ShapeFn shape, AllocationsFn allocations) {
  return Kernel(
      Family::kFactory, {name, summary, signature, example},
      {shape, Fusion::kElementwise, allocations, work::None, kNoGradient, precision::kFollow},
      Alias::kNone, traffic::None);
}

constexpr OpDef Overwrite(OpName name, std::string_view summary, Signature signature,
                          std::string_view example, Gradient grad,
                          ShapeFn shape = shape::SameAs<0>) {
  return Kernel(
      Family::kFactory, {name, summary, signature, example},
      {shape, Fusion::kElementwise, allocations::None, work::Move, grad, precision::kFollow},
      Alias::kInPlace, traffic::WriteOnly);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(
        contents::Number<0>,
        Kernel(Family::kFactory,
               {"steelyard::box", "A Python number as a 0-dim tensor, weakest in type promotion.",
                "(Scalar value) -> Tensor", "steelyard::box(0.5)"},
               {BoxShape, Fusion::kElementwise, BoxAllocations, work::None, kNoGradient,
                precision::kFollow},
               Alias::kNone, traffic::None)),
    Kernel(Family::kFactory,
           {"steelyard::box_imaginary", "An imaginary Python number as a 0-dim tensor.",
            "(Scalar value) -> Tensor", "steelyard::box_imaginary(0.5)"},
           {BoxImaginaryShape, Fusion::kElementwise, BoxAllocations, work::None, kNoGradient,
            precision::kFollow},
           Alias::kNone, traffic::None),
    CopyingOut(Knowing(
        contents::Number<0>,
        Fresh(
            "aten::scalar_tensor", "A number as a 0-dim tensor.",
            "(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
            "pin_memory=None) -> Tensor",
            "aten::scalar_tensor(1, dtype=f16)", ScalarTensorShape, allocations::OutputsOnly))),
    Knowing(
        contents::Everywhere<0>,
        Fresh(
            "aten::zeros", "Zeros.",
            "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None) -> Tensor",
            "aten::zeros([2,8], dtype=i64)", NewShape<0, 1>)),
    Kernel(Family::kFactory,
           {"aten::_efficientzerotensor",
            "Zeros that are not stored, as autograd makes them of what is zero everywhere.",
            "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None) -> Tensor",
            "aten::_efficientzerotensor([2,8])"},
           {NewShape<0, 1>, Fusion::kElementwise,
            DeviceAllocations{allocations::None, allocations::None}, work::None, kNoGradient,
            precision::kFollow},
           Alias::kNone, traffic::None),
    Knowing(
        contents::Everywhere<1>,
        Fresh(
            "aten::ones", "Ones.",
            "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None) -> Tensor",
            "aten::ones([2,8])", NewShape<0, 1>)),
    Knowing(
        contents::Number<1>,
        Fresh("aten::full", "A number repeated.",
              "(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
              "Device? device=None, bool? pin_memory=None) -> Tensor",
              "aten::full([2,8], True)", FullShape)),
    Unfilled("aten::empty.memory_format", "A tensor with any content.",
             "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
             "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
             "aten::empty.memory_format([2,3,4,5], memory_format=2)", EmptyShape,
             allocations::Via<"aten::empty">),
    TakingBits(
        MathBits::kBoth,
        CopyingOut(Unfilled(
            "aten::empty_strided", "A tensor with any content, laid out as the strides say.",
            "(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, "
            "Device? device=None, bool? pin_memory=None) -> Tensor",
            "aten::empty_strided([2,8], [1,2])", EmptyStridedShape,
            allocations::Via<"aten::empty_strided">))),
    CopyingOut(Knowing(
        contents::Everywhere<0>,
        Fresh(
            "aten::new_zeros", "Zeros of the tensor's dtype.",
            "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
            "device=None, bool? pin_memory=None) -> Tensor",
            "aten::new_zeros(f16[1], [2,8])", NewOfSelfShape<2>))),
    CopyingOut(Knowing(
        contents::Everywhere<1>,
        Fresh(
            "aten::new_ones", "Ones of the tensor's dtype.",
            "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
            "device=None, bool? pin_memory=None) -> Tensor",
            "aten::new_ones(f16[1], [2,8])", NewOfSelfShape<2>))),
    CopyingOut(Knowing(
        contents::Number<2>,
        Fresh("aten::new_full", "A number repeated, of the tensor's dtype.",
              "(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
              "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
              "aten::new_full(f16[1], [2,8], 1)", NewOfSelfShape<3>))),
    CopyingOut(Unfilled(
        "aten::new_empty", "A tensor of the tensor's dtype with any content.",
        "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
        "device=None, bool? pin_memory=None) -> Tensor",
        "aten::new_empty(f16[1], [2,8])", NewOfSelfShape<2>, allocations::Via<"aten::empty">)),
    CopyingOut(Unfilled(
        "aten::new_empty_strided", "A tensor laid out as the strides say, with any content.",
        "(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? "
        "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten::new_empty_strided(f16[1], [2,8], [1,2])", NewEmptyStridedShape,
        allocations::Via<"aten::empty_strided">)),
    CopyingOut(Knowing(
        contents::Everywhere<0>,
        Fresh("aten::zeros_like", "Zeros of the tensor's layout.",
              "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
              "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
              "aten::zeros_like(f32[2,8]{1,2})", LikeShape<1>, LikeAllocations<1>))),
    CopyingOut(Knowing(
        contents::Everywhere<1>,
        Fresh("aten::ones_like", "Ones of the tensor's layout.",
              "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
              "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
              "aten::ones_like(f32[2,8], dtype=bool)", LikeShape<1>, LikeAllocations<1>))),
    TakingBits(
        MathBits::kBoth,
        CopyingOut(Knowing(
            contents::Number<1>,
            Fresh(
                "aten::full_like", "A number repeated in the tensor's layout.",
                "(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
                "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> "
                "Tensor",
                "aten::full_like(f32[2,8], 1)", LikeShape<2>, LikeAllocations<2>)))),
    TakingBits(
        MathBits::kBoth,
        CopyingOut(Unfilled(
            "aten::empty_like", "A tensor of the tensor's layout with any content.",
            "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
            "aten::empty_like(f32[4,2,8]{8,0,1})", LikeShape<1>, LikeAllocations<1>))),
    Knowing(contents::Range<contents::kNone, contents::kNone>,
            Fresh("aten::arange", "0, 1, ... up to `end`.",
                  "(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                  "device=None, bool? "
                  "pin_memory=None) -> Tensor",
                  "aten::arange(5.5)", ArangeShape,
                  {allocations::Via<"aten::resize_">, cuda::Resized})),
    Knowing(
        contents::Range<0, contents::kNone>,
        Fresh("aten::arange.start", "`start`, `start` + 1, ... up to `end`.",
              "(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
              "device=None, bool? pin_memory=None) -> Tensor",
              "aten::arange.start(2, 8)", ArangeStartShape,
              {allocations::Via<"aten::resize_">, cuda::Resized})),
    Knowing(contents::Range<0, 2>,
            Fresh("aten::arange.start_step", "`start`, `start` + `step`, ... up to `end`.",
                  "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
                  "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                  "aten::arange.start_step(8, 1, -2, dtype=f32)", ArangeStepShape,
                  {allocations::Via<"aten::resize_">, cuda::Resized})),
    Fresh("aten::linspace", "Evenly spaced numbers.",
          "(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::linspace(0, 1, 8)", EvenShape<2>),
    Fresh("aten::logspace", "Powers of evenly spaced numbers.",
          "(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::logspace(0, 1, 8)", EvenShape<2, 4>),
    NumbersBetween(
        {"aten::linspace.Tensor_Tensor", "Evenly spaced numbers between two numbers in tensors.",
         "(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
         "Device? device=None, bool? pin_memory=None) -> Tensor",
         "aten::linspace.Tensor_Tensor(f32[], f32[], 8)"},
        EvenShape<2, 3>),
    NumbersBetween({"aten::linspace.Tensor_Scalar",
                    "Evenly spaced numbers between a number in a tensor and another.",
                    "(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
                    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                    "aten::linspace.Tensor_Scalar(f32[], 2, 8)"},
                   EvenShape<2, 3>),
    NumbersBetween({"aten::linspace.Scalar_Tensor",
                    "Evenly spaced numbers between a number and another in a tensor.",
                    "(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? "
                    "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                    "aten::linspace.Scalar_Tensor(2, f32[], 8)"},
                   EvenShape<2, 3>),
    NumbersBetween(
        {"aten::logspace.Tensor_Tensor",
         "Powers of evenly spaced numbers between two numbers in tensors.",
         "(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? "
         "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "aten::logspace.Tensor_Tensor(f32[], f32[], 8)"},
        EvenShape<2, 4>),
    NumbersBetween(
        {"aten::logspace.Tensor_Scalar",
         "Powers of evenly spaced numbers between a number in a tensor and another.",
         "(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? "
         "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "aten::logspace.Tensor_Scalar(f32[], 2, 8)"},
        EvenShape<2, 4>),
    NumbersBetween(
        {"aten::logspace.Scalar_Tensor",
         "Powers of evenly spaced numbers between a number and another in a tensor.",
         "(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? "
         "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "aten::logspace.Scalar_Tensor(2, f32[], 8)"},
        EvenShape<2, 4>),
    Fresh("aten::range", "`start`, `start` + 1, ... up to `end`, which is among them.",
          "(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::range(1, 5)", ClosedRangeShape, allocations::Via<"aten::resize_">),
    Fresh("aten::range.step",
          "`start`, `start` + `step`, ... up to `end`, which may be among them.",
          "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::range.step(1, 8, 2)", ClosedRangeStepShape, allocations::Via<"aten::resize_">),
    Composite("aten::vander", "Powers of a vector's elements as columns.",
              "(Tensor x, int? N=None, bool increasing=False) -> Tensor", "aten::vander(f32[5], 3)",
              Family::kFactory, Vandermonde, precision::kFollow),
    Fresh("aten::eye", "An identity matrix.",
          "(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
          "pin_memory=None) -> Tensor",
          "aten::eye(8)", EyeShape, allocations::Via<"aten::resize_">),
    Fresh("aten::eye.m", "Ones on the diagonal of a matrix.",
          "(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::eye.m(8, 5)", RectangularEyeShape, allocations::Via<"aten::resize_">),
    Knowing(contents::Number<1>,
            Overwrite("aten::fill_.Scalar", "Overwrites with a number.",
                      "(Tensor(a!) self, Scalar value) -> Tensor(a!)",
                      "aten::fill_.Scalar(f32[2,8], 1)", gradients::kFillInPlace)),
    Knowing(contents::Number<1>, Overwrite("aten::fill_.Tensor", "Overwrites with a 0-dim tensor.",
                                           "(Tensor(a!) self, Tensor value) -> Tensor(a!)",
                                           "aten::fill_.Tensor(f32[2,8], f32[])",
                                           gradients::kFillTensor, pointwise::InPlaceShape)),
    Knowing(contents::Everywhere<0>,
            Overwrite("aten::zero_", "Overwrites with zeros.", "(Tensor(a!) self) -> Tensor(a!)",
                      "aten::zero_(f32[2,8])", gradients::kZero)),
    CopyingOut(Composite("aten::fill.Scalar", "A number repeated in the tensor's layout.",
                         "(Tensor self, Scalar value) -> Tensor", "aten::fill.Scalar(f32[2,8], 1)",
                         Family::kFactory, Fill, precision::kFollow, gradients::kFill)),
    CopyingOut(Composite("aten::fill.Tensor", "A 0-dim tensor repeated in the tensor's layout.",
                         "(Tensor self, Tensor value) -> Tensor",
                         "aten::fill.Tensor(f32[2,8], f32[])", Family::kFactory, FillWithTensor,
                         precision::kFollow, gradients::kFillWithTensor)),
};

}  // namespace

std::span<const OpDef> Factory() { return kRows; }

}  // namespace steelyard::ops
