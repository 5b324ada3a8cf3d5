// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and selection: operators that give or take bool.

#include "ops/gradients/comparison.h"

#include <array>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/clamp.h"
#include "ops/gradients/exponential.h"
#include "ops/gradients/floating_point.h"
#include "ops/gradients/indexing.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/network.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/rounding.h"
#include "ops/gradients/special_functions.h"
#include "ops/gradients/trigonometric.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

constexpr WorkFn kCompare = work::PerOutput<PerElement{.compare = 1}>;
// Logic on bits is arithmetic.
constexpr WorkFn kAlu = work::PerOutput<PerElement{.alu = 1}>;

// --- Comparison and logic -----------------------------------------------------------------------

// A TensorIterator that casts to the common dtype and gives bool.
constexpr OpDef Truth(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, WorkFn work) {
  return Kernel(
      Family::kElementwise, {name, summary, signature, example},
      {shape::Iterate<Promotion::kCompare, 0, 1>, Fusion::kBroadcast,
       allocations::Iterate<Promotion::kCompare, 0, 1>, work, kNoGradient, precision::kFollow});
}
constexpr OpDef CompareTensors(OpName name, std::string_view summary, Signature signature,
                               std::string_view example) {
  return Truth(name, summary, signature, example, kCompare);
}

void BitwiseShape(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.tensor(0), op.tensor(1)}});
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr OpDef Bitwise(OpName name, std::string_view summary, Signature signature,
                        std::string_view example) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {BitwiseShape, Fusion::kBroadcast, allocations::Iterate<Promotion::kCommon, 0, 1>,
                 kAlu, kNoGradient, precision::kFollow});
}

void CompareNumberShape(const OpView& op, Outputs& out) {
  const DType common = ResultType(op.self(), {op.arg(1)});
  const Dims strides = shape::CastStrides(op.self(), common);
  const std::array operands{Layout{op.self().sizes(), strides}, Layout{}};  // the number
  shape::AddIterated(DType::kBool, operands, out);
}

// The iterator owns the boxed number and drops it before its cast.
void CompareNumberAllocations(const OpView& op, Allocations& memory) {
  const DType common = ResultType(op.self(), {op.arg(1)});
  const auto box = memory.Allocate(allocations::BoxBytes(op.arg(1)));
  const auto self = allocations::Cast(op.self(), common, memory);
  std::optional<Allocations::Scratch> number;
  if (BoxedType(op.arg(1)) != common) {
    number = memory.Allocate(BitsOf(common) / 8, "aten::empty_strided");
  }
  memory.Output(0);
  memory.Free(box);
  allocations::Free(number, memory);
  allocations::Free(self, memory);
}

constexpr OpDef CompareNumber(OpName name, std::string_view summary, std::string_view example) {
  return Kernel(Family::kElementwise,
                {name, summary, "(Tensor self, Scalar other) -> Tensor", example},
                {CompareNumberShape, Fusion::kElementwise, CompareNumberAllocations, kCompare,
                 kNoGradient, precision::kFollow});
}

void BitwiseNotShape(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.self()}});
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}
constexpr OpDef Not(OpName name, std::string_view summary, std::string_view example,
                    ShapeFn shape) {
  return Kernel(Family::kElementwise, {name, summary, "(Tensor self) -> Tensor", example},
                {shape, Fusion::kElementwise, allocations::OutputsOnly, kAlu, kNoGradient,
                 precision::kFollow});
}

// The operator that writes into an argument runs: one of a dtype that is not bool gets the result
// through a buffer of the common dtype.
template <Label kOperator>
void LogicalInPlaceAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  const DType common = ResultType({self, other});
  std::optional<Allocations::Scratch> buffer;
  if (self.dtype() != DType::kBool && self.dtype() != common) {
    buffer = memory.Allocate(allocations::Bytes(self.count(), common), "aten::empty");
  }
  const auto first = allocations::Cast(self, common, memory);
  const auto second = allocations::Cast(other, common, memory);
  for (const auto& scratch : {buffer, second, first}) {
    if (scratch) memory.Free(*scratch, kOperator.view());
  }
}

constexpr OpDef LogicalInPlace(OpName name, std::string_view summary, Signature signature,
                               std::string_view example, ShapeFn shape, AllocationsFn allocations) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {shape, Fusion::kBroadcast, allocations, kAlu, kNoGradient, precision::kFollow},
                Alias::kInPlace);
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kElementwise, decompose,
                   precision::kFollow, grad);
}

std::vector<Tensor> IsReal(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (!IsComplex(self.dtype())) return {d.Call("aten::ones_like", self, DType::kBool)};
  return {d.Call("aten::eq.Scalar", d.Call("aten::imag", self), 0)};
}
std::vector<Tensor> IsNan(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::ne.Tensor", op.arg(0), op.arg(0))};
}

// --- Selection ----------------------------------------------------------------------------------

// self and other are promoted; the condition is bool or, to be cast, uint8.
void WhereShape(const OpView& op, Outputs& out) {
  const TensorView condition = op.tensor(0);
  if (condition.dtype() != DType::kBool && condition.dtype() != DType::kUInt8) {
    Refuse("the condition must be bool, not " + shape::Text(condition));
  }
  const DType common = ResultType({op.tensor(1), op.tensor(2)});
  const Dims a = shape::CastStrides(condition, DType::kBool);
  const Dims b = shape::CastStrides(op.tensor(1), common);
  const Dims c = shape::CastStrides(op.tensor(2), common);
  const std::array operands{Layout{condition.sizes(), a}, Layout{op.tensor(1).sizes(), b},
                            Layout{op.tensor(2).sizes(), c}};
  shape::AddIterated(common, operands, out);
}

void WhereAllocations(const OpView& op, Allocations& memory) {
  const DType common = op.output().dtype();
  const auto self = allocations::Cast(op.tensor(1), common, memory);
  const auto other = allocations::Cast(op.tensor(2), common, memory);
  const auto condition = allocations::Cast(op.tensor(0), DType::kBool, memory);
  memory.Output(0);
  allocations::Free(condition, memory);
  allocations::Free(other, memory);
  allocations::Free(self, memory);
}

// The number becomes a 0-dim tensor of the common dtype, the other operand is cast to it.
std::vector<Tensor> WhereScalarOther(Dispatcher& d, const OpView& op) {
  const DType common = ResultType(op.tensor(1), {op.arg(2)});
  const Tensor other = d.Call("aten::scalar_tensor", op.arg(2), common);
  const Tensor self = d.Call("aten::to.dtype", d.tensor(op, 1), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}
std::vector<Tensor> WhereScalarSelf(Dispatcher& d, const OpView& op) {
  const DType common = ResultType(op.tensor(2), {op.arg(1)});
  const Tensor self = d.Call("aten::scalar_tensor", op.arg(1), common);
  const Tensor other = d.Call("aten::to.dtype", d.tensor(op, 2), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}

// Both numbers become 0-dim tensors.
std::vector<Tensor> WhereScalar(Dispatcher& d, const OpView& op) {
  const auto either = [&](ArgKind kind) {
    return op.arg(1).kind == kind || op.arg(2).kind == kind;
  };
  const DType common = either(ArgKind::kFloat) ? DType::kFloat32
                       : either(ArgKind::kInt) ? DType::kInt64
                                               : DType::kBool;
  const Tensor self = d.Call("aten::scalar_tensor", op.arg(1), common);
  const Tensor other = d.Call("aten::scalar_tensor", op.arg(2), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}

void MaskedFillInPlaceShape(const OpView& op, Outputs& out) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  if (sizes.size() != op.self().rank()) Refuse("the mask has more dimensions than the tensor");
  out.AddLike(op.self());
}

// masked_fill: a row-major copy of the tensor, expanded to the mask, that is then filled.
template <Label kInPlace>
std::vector<Tensor> MaskedFill(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  const Tensor self = d.Call("aten::expand", d.tensor(op, 0), sizes);
  const Tensor result = d.Call("aten::clone", self, kContiguousFormat);
  return {d.Call(kOpNamed<kInPlace>, result, d.tensor(op, 1), op.arg(2))};
}

constexpr OpDef MaskedFillInPlace(OpName name, std::string_view summary, Signature signature,
                                  std::string_view example, Gradient grad) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {MaskedFillInPlaceShape, Fusion::kBroadcast, allocations::None,
                 work::PerOutput<PerElement{.compare = 1}>, grad, precision::kFollow},
                Alias::kInPlace);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(contents::Pointwise<segments::Equal>,
            CompareTensors("aten::eq.Tensor", "Whether two are equal.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::eq.Tensor(f32[2,8], i64[8])")),
    Knowing(contents::Pointwise<segments::NotEqual>,
            CompareTensors("aten::ne.Tensor", "Whether two differ.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::ne.Tensor(f32[2,8], f32[8])")),
    Knowing(contents::Pointwise<segments::Less>,
            CompareTensors("aten::lt.Tensor", "Whether the first is smaller.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::lt.Tensor(f32[2,8], f32[8])")),
    Knowing(contents::Pointwise<segments::LessEqual>,
            CompareTensors("aten::le.Tensor", "Whether the first is not larger.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::le.Tensor(i64[8], i64[8,1])")),
    Knowing(contents::Pointwise<segments::Greater>,
            CompareTensors("aten::gt.Tensor", "Whether the first is larger.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::gt.Tensor(f32[2,8], f32[8])")),
    Knowing(contents::Pointwise<segments::GreaterEqual>,
            CompareTensors("aten::ge.Tensor", "Whether the first is not smaller.",
                           "(Tensor self, Tensor other) -> Tensor",
                           "aten::ge.Tensor(f32[2,8], f32[8])")),
    Knowing(contents::Pointwise<segments::Equal>,
            CompareNumber("aten::eq.Scalar", "Whether an element equals a number.",
                          "aten::eq.Scalar(i64[2,8], 2.5)")),
    Knowing(contents::Pointwise<segments::NotEqual>,
            CompareNumber("aten::ne.Scalar", "Whether an element differs from a number.",
                          "aten::ne.Scalar(f32[2,8], 0)")),
    Knowing(contents::Pointwise<segments::Less>,
            CompareNumber("aten::lt.Scalar", "Whether an element is smaller than a number.",
                          "aten::lt.Scalar(f32[2,8], 0)")),
    Knowing(contents::Pointwise<segments::LessEqual>,
            CompareNumber("aten::le.Scalar", "Whether an element is not larger than a number.",
                          "aten::le.Scalar(f16[2,8], 0)")),
    Knowing(contents::Pointwise<segments::Greater>,
            CompareNumber("aten::gt.Scalar", "Whether an element is larger than a number.",
                          "aten::gt.Scalar(bool[2,8], 1)")),
    Knowing(contents::Pointwise<segments::GreaterEqual>,
            CompareNumber("aten::ge.Scalar", "Whether an element is not smaller than a number.",
                          "aten::ge.Scalar(f32[8,2]{1,8}, 0)")),
    Knowing(contents::Pointwise<segments::And>,
            Bitwise("aten::bitwise_and.Tensor", "And of the bits.",
                    "(Tensor self, Tensor other) -> Tensor",
                    "aten::bitwise_and.Tensor(i64[2,8], bool[8])")),
    Knowing(contents::Pointwise<segments::Or>,
            Bitwise("aten::bitwise_or.Tensor", "Or of the bits.",
                    "(Tensor self, Tensor other) -> Tensor",
                    "aten::bitwise_or.Tensor(bool[2,8], bool[8])")),
    Bitwise("aten::bitwise_xor.Tensor", "Exclusive or of the bits.",
            "(Tensor self, Tensor other) -> Tensor",
            "aten::bitwise_xor.Tensor(bool[2,8], bool[8])"),
    Call("aten::__and__.Tensor", "And of the bits.", "(Tensor self, Tensor other) -> Tensor",
         "aten::__and__.Tensor(bool[2,8], bool[8])", decompose::SameAs<"aten::bitwise_and.Tensor">),
    Call("aten::__or__.Tensor", "Or of the bits.", "(Tensor self, Tensor other) -> Tensor",
         "aten::__or__.Tensor(bool[2,8], bool[8])", decompose::SameAs<"aten::bitwise_or.Tensor">),
    Call("aten::__xor__.Tensor", "Exclusive or of the bits.",
         "(Tensor self, Tensor other) -> Tensor", "aten::__xor__.Tensor(bool[2,8], bool[8])",
         decompose::SameAs<"aten::bitwise_xor.Tensor">),
    Knowing(contents::Pointwise<segments::Not, 1>,
            Not("aten::bitwise_not", "The other bits.", "aten::bitwise_not(bool[2,8])",
                BitwiseNotShape)),
    Knowing(contents::Pointwise<segments::And>,
            Truth("aten::logical_and", "Whether both are not zero.",
                  "(Tensor self, Tensor other) -> Tensor", "aten::logical_and(f32[2,8], i64[8])",
                  kAlu)),
    Knowing(contents::Pointwise<segments::And>,
            LogicalInPlace("aten::logical_and_", "Whether both are not zero, in place.",
                           "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                           "aten::logical_and_(bool[2,8], bool[8])",
                           shape::Overwrite<Promotion::kCompare, 0, 1>,
                           LogicalInPlaceAllocations<"aten::logical_and">)),
    Knowing(contents::Pointwise<segments::Or>,
            LogicalInPlace("aten::logical_or_", "Whether one is not zero, in place.",
                           "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                           "aten::logical_or_(bool[2,8], bool[8])",
                           shape::Overwrite<Promotion::kCompare, 0, 1>,
                           LogicalInPlaceAllocations<"aten::logical_or">)),
    Knowing(contents::Pointwise<segments::Not, 1>,
            LogicalInPlace("aten::logical_not_", "Whether an element is zero, in place.",
                           "(Tensor(a!) self) -> Tensor(a!)", "aten::logical_not_(bool[2,8])",
                           shape::Overwrite<Promotion::kCompare, 0>, allocations::None)),
    Knowing(contents::Pointwise<segments::Or>, Truth("aten::logical_or", "Whether one is not zero.",
                                                     "(Tensor self, Tensor other) -> Tensor",
                                                     "aten::logical_or(f32[2,8], f32[8])", kAlu)),
    LogicalInPlace("aten::logical_xor_", "Whether exactly one is not zero, in place.",
                   "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                   "aten::logical_xor_(bool[2,8], bool[8])",
                   shape::Overwrite<Promotion::kCompare, 0, 1>,
                   LogicalInPlaceAllocations<"aten::logical_xor">),
    Truth("aten::logical_xor", "Whether exactly one is not zero.",
          "(Tensor self, Tensor other) -> Tensor", "aten::logical_xor(bool[2,8], bool[8])", kAlu),
    Knowing(contents::Pointwise<segments::Not, 1>,
            Not("aten::logical_not", "Whether an element is zero.", "aten::logical_not(f32[2,8])",
                shape::Iterate<Promotion::kCompare, 0>)),
    Not("aten::isneginf", "Whether an element is minus infinity.", "aten::isneginf(f32[2,8])",
        shape::Iterate<Promotion::kCompare, 0>),
    Call("aten::isreal", "Whether an element is no complex number.", "(Tensor self) -> Tensor",
         "aten::isreal(f32[2,8])", IsReal),
    Call("aten::isnan", "Whether an element is not a number.", "(Tensor self) -> Tensor",
         "aten::isnan(f32[2,8])", IsNan),
    Knowing(
        contents::Pointwise<segments::Select, 3>,
        Kernel(
            Family::kElementwise,
            {"aten::where.self", "Where the condition holds `self`, elsewhere `other`.",
             "(Tensor condition, Tensor self, Tensor other) -> Tensor",
             "aten::where.self(bool[2,8], f32[8], i64[])"},
            {WhereShape, Fusion::kBroadcast, DeviceAllocations{WhereAllocations, WhereAllocations},
             work::PerOutput<PerElement{.compare = 1}>, gradients::kWhere, precision::kFollow})),
    Call("aten::where.ScalarOther", "Where the condition holds `self`, elsewhere a number.",
         "(Tensor condition, Tensor self, Scalar other) -> Tensor",
         "aten::where.ScalarOther(bool[2,8], i64[2,8], 0.0)", WhereScalarOther),
    Call("aten::where.ScalarSelf", "Where the condition holds a number, elsewhere `other`.",
         "(Tensor condition, Scalar self, Tensor other) -> Tensor",
         "aten::where.ScalarSelf(bool[2,8], 1.0, f16[2,8])", WhereScalarSelf),
    Call("aten::where.Scalar", "Where the condition holds one number, elsewhere another.",
         "(Tensor condition, Scalar self, Scalar other) -> Tensor",
         "aten::where.Scalar(bool[2,8], 1.0, 0)", WhereScalar),
    Knowing(contents::Pointwise<segments::Replace, 3>,
            MaskedFillInPlace("aten::masked_fill_.Scalar", "Writes a number where the mask holds.",
                              "(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
                              "aten::masked_fill_.Scalar(f32[2,8], bool[8], 0)",
                              gradients::kMaskedFill)),
    Knowing(contents::Pointwise<segments::Replace, 3>,
            MaskedFillInPlace("aten::masked_fill_.Tensor",
                              "Writes a 0-dim tensor where the mask holds.",
                              "(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
                              "aten::masked_fill_.Tensor(f32[2,8], bool[8], f32[])",
                              gradients::kMaskedFillTensor)),
    Call("aten::masked_fill.Scalar", "A copy with a number where the mask holds.",
         "(Tensor self, Tensor mask, Scalar value) -> Tensor",
         "aten::masked_fill.Scalar(f32[8], bool[2,8], 0)", MaskedFill<"aten::masked_fill_.Scalar">,
         gradients::kMaskedFill),
    Call("aten::masked_fill.Tensor", "A copy with a 0-dim tensor where the mask holds.",
         "(Tensor self, Tensor mask, Tensor value) -> Tensor",
         "aten::masked_fill.Tensor(f32[2,8], bool[2,8], f32[])",
         MaskedFill<"aten::masked_fill_.Tensor">, gradients::kMaskedFillTensor),
};

}  // namespace

std::span<const OpDef> Comparison() { return kRows; }

}  // namespace steelyard::ops
