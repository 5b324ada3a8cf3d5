// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of each element, which give bool or, in place, numbers for it; and of two the larger
// or the smaller (ATen/native/BinaryOps.cpp).

#include "ops/gradients/comparison.h"

#include <array>
#include <optional>
#include <string_view>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::Call;
using pointwise::kCompare;
using pointwise::RealBinary;

// --- Fresh --------------------------------------------------------------------------------------

// A TensorIterator that casts to the common dtype and gives bool.
constexpr OpDef Compare(const Words& words) {
  return Binary<Promotion::kCompare>(words, kNoGradient, kCompare);
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

constexpr OpDef CompareNumber(const Words& words) {
  return Kernel(Family::kElementwise, words,
                {CompareNumberShape, Fusion::kElementwise, CompareNumberAllocations, kCompare,
                 kNoGradient, precision::kFollow});
}

// --- In place -----------------------------------------------------------------------------------

// Truth is written as it is; a result of another dtype than they are compared in is copied.
void CompareInPlaceAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  if (self.dtype() != DType::kBool) {
    return allocations::Overwrite<Promotion::kCompare, 0, 1>(op, memory);
  }
  const DType common = ResultType({self, other});
  const auto first = allocations::Cast(self, common, memory);
  allocations::Free(allocations::Cast(other, common, memory), memory);
  allocations::Free(first, memory);
}
// With a number, which is boxed.
void CompareNumberInPlaceAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const DType common = ResultType(self, {op.arg(1)});
  const auto box = memory.Allocate(allocations::BoxBytes(op.arg(1)));
  std::optional<Allocations::Scratch> buffer, number;
  if (self.dtype() != common && self.dtype() != DType::kBool) {
    buffer = memory.Allocate(allocations::Bytes(self.count(), common), "aten::empty");
  }
  const auto cast = allocations::Cast(self, common, memory);
  if (BoxedType(op.arg(1)) != common) {
    number = memory.Allocate(BitsOf(common) / 8, "aten::empty_strided");
  }
  allocations::Free(buffer, memory);
  memory.Free(box);
  allocations::Free(number, memory);
  allocations::Free(cast, memory);
}

// What they give does not change with the operands.
constexpr Gradient ZerosOfBoth(std::string_view node) {
  return Gradient(node, {GradientOf(1, {}, gradients::ZerosOfArgument<1>),
                         GradientOf(0, {}, gradients::ZerosOfArgument<0>)});
}
constexpr Gradient ZerosOfOne(std::string_view node) {
  return Gradient(node, {GradientOf(0, {}, gradients::ZerosOfArgument<0>)});
}

constexpr OpDef CompareInPlace(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {shape::Overwrite<Promotion::kCompare, 0, 1>, Fusion::kBroadcast,
                 CompareInPlaceAllocations, kCompare, grad, precision::kFollow},
                Alias::kInPlace);
}
constexpr OpDef CompareNumberInPlace(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {pointwise::InPlaceShape, Fusion::kElementwise, CompareNumberInPlaceAllocations,
                 kCompare, grad, precision::kFollow},
                Alias::kInPlace);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(
        contents::Pointwise<segments::Equal>,
        Compare({"aten::eq.Tensor", "Whether two are equal.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::eq.Tensor(f32[2,8], i64[8])"})),
    CompareInPlace(
        {"aten::eq_.Tensor", "Whether two are equal, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::eq_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("EqBackward1")),
    Knowing(
        contents::Pointwise<segments::Equal>,
        CompareNumber({"aten::eq.Scalar", "Whether an element equals a number.",
                       "(Tensor self, Scalar other) -> Tensor", "aten::eq.Scalar(i64[2,8], 2.5)"})),
    CompareNumberInPlace(
        {"aten::eq_.Scalar", "Whether an element is equal than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::eq_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("EqBackward0")),
    Knowing(
        contents::Pointwise<segments::NotEqual>,
        Compare({"aten::ne.Tensor", "Whether two differ.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::ne.Tensor(f32[2,8], f32[8])"})),
    CompareInPlace(
        {"aten::ne_.Tensor", "Whether two differ, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::ne_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("NeBackward1")),
    Knowing(
        contents::Pointwise<segments::NotEqual>,
        CompareNumber({"aten::ne.Scalar", "Whether an element differs from a number.",
                       "(Tensor self, Scalar other) -> Tensor", "aten::ne.Scalar(f32[2,8], 0)"})),
    CompareNumberInPlace(
        {"aten::ne_.Scalar", "Whether an element and a number differ, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::ne_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("NeBackward0")),
    Knowing(
        contents::Pointwise<segments::Less>,
        Compare({"aten::lt.Tensor", "Whether the first is smaller.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::lt.Tensor(f32[2,8], f32[8])"})),
    CompareInPlace(
        {"aten::lt_.Tensor", "Whether the first is smaller, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::lt_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("LtBackward1")),
    Knowing(
        contents::Pointwise<segments::Less>,
        CompareNumber({"aten::lt.Scalar", "Whether an element is smaller than a number.",
                       "(Tensor self, Scalar other) -> Tensor", "aten::lt.Scalar(f32[2,8], 0)"})),
    CompareNumberInPlace(
        {"aten::lt_.Scalar", "Whether an element is smaller than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::lt_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("LtBackward0")),
    Knowing(
        contents::Pointwise<segments::LessEqual>,
        Compare({"aten::le.Tensor", "Whether the first is not larger.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::le.Tensor(i64[8], i64[8,1])"})),
    CompareInPlace(
        {"aten::le_.Tensor", "Whether the first is not larger, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::le_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("LeBackward1")),
    Knowing(
        contents::Pointwise<segments::LessEqual>,
        CompareNumber({"aten::le.Scalar", "Whether an element is not larger than a number.",
                       "(Tensor self, Scalar other) -> Tensor", "aten::le.Scalar(f16[2,8], 0)"})),
    CompareNumberInPlace(
        {"aten::le_.Scalar", "Whether an element is not larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::le_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("LeBackward0")),
    Knowing(
        contents::Pointwise<segments::Greater>,
        Compare({"aten::gt.Tensor", "Whether the first is larger.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::gt.Tensor(f32[2,8], f32[8])"})),
    CompareInPlace(
        {"aten::gt_.Tensor", "Whether the first is larger, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::gt_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("GtBackward1")),
    Knowing(
        contents::Pointwise<segments::Greater>,
        CompareNumber({"aten::gt.Scalar", "Whether an element is larger than a number.",
                       "(Tensor self, Scalar other) -> Tensor", "aten::gt.Scalar(bool[2,8], 1)"})),
    CompareNumberInPlace(
        {"aten::gt_.Scalar", "Whether an element is larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::gt_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("GtBackward0")),
    Knowing(
        contents::Pointwise<segments::GreaterEqual>,
        Compare({"aten::ge.Tensor", "Whether the first is not smaller.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::ge.Tensor(f32[2,8], f32[8])"})),
    CompareInPlace(
        {"aten::ge_.Tensor", "Whether the first is not smaller, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::ge_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("GeBackward1")),
    Knowing(contents::Pointwise<segments::GreaterEqual>,
            CompareNumber({"aten::ge.Scalar", "Whether an element is not smaller than a number.",
                           "(Tensor self, Scalar other) -> Tensor",
                           "aten::ge.Scalar(f32[8,2]{1,8}, 0)"})),
    CompareNumberInPlace(
        {"aten::ge_.Scalar", "Whether an element is not smaller than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::ge_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("GeBackward0")),
    Knowing(contents::Pointwise<segments::Smaller>,
            Binary<Promotion::kCommon>(
                {"aten::minimum", "The smaller of two.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::minimum(f32[2,8], i64[8])"},
                gradients::kMinimum)),
    Knowing(contents::Pointwise<segments::Larger>,
            Binary<Promotion::kCommon>(
                {"aten::maximum", "The larger of two.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::maximum(f32[2,8], f32[8])"},
                gradients::kMaximum)),
    Call({"aten::min.other", "The smaller of two.", "(Tensor self, Tensor other) -> Tensor",
          "aten::min.other(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::minimum">),
    Call({"aten::max.other", "The larger of two.", "(Tensor self, Tensor other) -> Tensor",
          "aten::max.other(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::maximum">),
    RealBinary<Promotion::kCommon>(
        {"aten::fmin", "The smaller of two, where both are numbers.",
         "(Tensor self, Tensor other) -> Tensor", "aten::fmin(f32[2,8], f32[8])"},
        gradients::kFmin),
    RealBinary<Promotion::kCommon>(
        {"aten::fmax", "The larger of two, where both are numbers.",
         "(Tensor self, Tensor other) -> Tensor", "aten::fmax(f32[2,8], f32[8])"},
        gradients::kFmax),
};

}  // namespace

std::span<const OpDef> Comparison() { return kRows; }

}  // namespace steelyard::ops
