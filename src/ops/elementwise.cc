// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on each element: one TensorIterator per row, with PyTorch's type promotion. Overloads
// for a Python number box it and call the overload for tensors, as ATen's do.

#include <array>
#include <optional>
#include <vector>

#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/clamp.h"
#include "ops/gradients/comparison.h"
#include "ops/gradients/complex.h"
#include "ops/gradients/exponential.h"
#include "ops/gradients/floating_point.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/rounding.h"
#include "ops/gradients/special_functions.h"
#include "ops/gradients/trigonometric.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

// --- Makers -------------------------------------------------------------------------------------

template <Promotion kPromotion>
constexpr OpDef Unary(OpName name, std::string_view summary, std::string_view example,
                      Gradient grad, WorkFn work) {
  return Kernel(Family::kElementwise, {name, summary, "(Tensor self) -> Tensor", example},
                {shape::Iterate<kPromotion, 0>, Fusion::kElementwise,
                 allocations::Iterate<kPromotion, 0>, work, grad, precision::kFollow});
}

// A special function: integers become float32.
constexpr OpDef Special(OpName name, std::string_view summary, std::string_view example,
                        Gradient grad) {
  return Unary<Promotion::kFloat>(name, summary, example, grad,
                                  work::PerOutput<PerElement{.special = 1}>);
}

template <Promotion kPromotion>
constexpr OpDef Binary(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, Gradient grad,
                       WorkFn work = work::PerOutput<PerElement{.alu = 1}>,
                       ShapeFn shape = shape::Iterate<kPromotion, 0, 1>) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {shape, Fusion::kBroadcast, allocations::Iterate<kPromotion, 0, 1>, work, grad,
                 precision::kFollow});
}

template <Promotion kPromotion>
constexpr OpDef BinaryInPlace(OpName name, std::string_view summary, Signature signature,
                              std::string_view example, Gradient grad,
                              WorkFn work = work::PerOutput<PerElement{.alu = 1}>,
                              ShapeFn shape = shape::Overwrite<kPromotion, 0, 1>) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {shape, Fusion::kBroadcast, allocations::Overwrite<kPromotion, 0, 1>, work, grad,
                 precision::kFollow},
                Alias::kInPlace);
}

// A kernel of one tensor that overwrites it.
constexpr OpDef UnaryInPlace(OpName name, std::string_view summary, Signature signature,
                             std::string_view example, Gradient grad, WorkFn work,
                             ShapeFn shape = shape::SameAs<0>) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {shape, Fusion::kElementwise, allocations::None, work, grad, precision::kFollow},
                Alias::kInPlace);
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kElementwise, decompose,
                   precision::kFollow, grad);
}

// --- Absolute value -----------------------------------------------------------------------------

void AbsShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  shape::AddIterated(RealOf(self.dtype()), self.dtype(), {{self}}, out);
}

// The absolute value of complex numbers is computed as a complex tensor and then copied.
void AbsAllocations(const OpView& op, Allocations& memory) {
  if (!IsComplex(op.self().dtype())) return memory.Output(0);
  memory.Output(0, "aten::empty_strided");
  memory.Free(memory.Allocate(allocations::Bytes(op.self().count(), op.self().dtype())));
}

// --- Powers -------------------------------------------------------------------------------------

void PowShape(const OpView& op, Outputs& out) {
  const DType common = ResultType(op.self(), {op.arg(1)});
  if (!IsFloating(common) && !IsComplex(common) && op.real(1) < 0) {
    Refuse("integers cannot be raised to a negative power");
  }
  shape::AddIterated(common, common, {{op.self()}}, out);
}

// The operand is cast to the dtype of the result.
void CastAllocations(const OpView& op, Allocations& memory) {
  const auto cast = allocations::Cast(op.self(), op.output().dtype(), memory);
  memory.Output(0);
  allocations::Free(cast, memory);
}

// Small powers are products; the kernel has a case for each (PowKernel.cpp).
Work PowWork(const OpView& op) {
  const Count count = work::Elements(op.output());
  const double exponent = op.real(1);
  if (exponent == 1) return {.move = count};
  if (exponent == 2) return {.alu = count};
  if (exponent == 3) return {.alu = count * 2};
  return {.special = count};
}

void OverwritePowShape(const OpView& op, Outputs& out) {
  const DType common = ResultType(op.self(), {op.arg(1)});
  if (common != op.self().dtype()) {
    Refuse("a result of " + std::string(NameOf(common)) + " cannot be written into " +
           shape::Text(op.self()));
  }
  if (!IsFloating(common) && !IsComplex(common) && op.real(1) < 0) {
    Refuse("integers cannot be raised to a negative power");
  }
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

void PowOfNumberShape(const OpView& op, Outputs& out) {
  const TensorView exponent = op.tensor(1);
  out.Add(ResultType(exponent, {op.arg(0)}), exponent.sizes());
}

// Row-major, and made for the exponent alone; then the number is boxed and the kernel for two
// tensors called, which casts them.
void PowOfNumberAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const bool is_one = op.arg(0).kind != ArgKind::kBool && op.real(0) == 1;
  if (is_one) return;  // filled with ones
  const DType common = op.output().dtype();
  const std::int64_t box_bytes = allocations::BoxBytes(op.arg(0));
  const auto box = memory.Allocate(box_bytes);
  std::optional<Allocations::Scratch> box_cast;
  if (BoxedType(op.arg(0)) != common) {
    box_cast = memory.Allocate(BitsOf(common) / 8, "aten::empty_strided");
  }
  const auto cast = allocations::Cast(op.tensor(1), common, memory);
  allocations::Free(cast, memory);
  allocations::Free(box_cast, memory);
  memory.Free(box);
}

// There the box is a tensor on the device.
void PowOfNumberOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const bool is_one = op.arg(0).kind != ArgKind::kBool && op.real(0) == 1;
  if (!is_one) memory.Free(memory.Allocate(allocations::BoxBytes(op.arg(0))));
}

std::vector<Tensor> Square(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::pow.Tensor_Scalar", d.tensor(op, 0), 2)};
}

// --- Subtraction ----------------------------------------------------------------

void RefuseBool(const OpView& op) {
  for (int i : {0, 1}) {
    if (op.tensor(i).dtype() == DType::kBool) {
      Refuse("bool cannot be subtracted", "Use logical_xor or logical_not.");
    }
  }
}
void SubtractShape(const OpView& op, Outputs& out) {
  RefuseBool(op);
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
void SubtractInPlaceShape(const OpView& op, Outputs& out) {
  RefuseBool(op);
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}

std::vector<Tensor> SubtractFromNumber(Dispatcher& d, const OpView& op) {
  const Tensor number = d.Box(op.arg(1));
  return {d.Call("aten::sub.Tensor", number, d.tensor(op, 0), op.arg(2))};
}
std::vector<Tensor> SubtractFrom(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::sub.Tensor", d.tensor(op, 1), d.tensor(op, 0), op.arg(2))};
}

// --- Division -----------------------------------------------------------------------------------

// With a rounding mode integers stay integers.
Promotion DivisionPromotion(const OpView& op) {
  return op.given(2) ? Promotion::kCommon : Promotion::kFloat;
}
constexpr std::array kBothOperands{0, 1};
void RoundedDivisionShape(const OpView& op, Outputs& out) {
  shape::IterateOver(op, DivisionPromotion(op), kBothOperands, out);
}
void RoundedDivisionAllocations(const OpView& op, Allocations& memory) {
  allocations::IterateOver(op, DivisionPromotion(op), kBothOperands, memory);
}

// --- Clamping -----------------------------------------------------------------------------------

void ClampShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const bool to_integer = !IsFloating(self.dtype()) && !IsComplex(self.dtype());
  const Argument max = op.arg_count() > 2 ? op.arg(2) : Argument::None();
  if (!op.given(1) && max.kind == ArgKind::kNone) Refuse("clamp needs a minimum or a maximum");
  const DType common = to_integer ? ResultType(self, {op.arg(1), max}) : self.dtype();
  shape::AddIterated(common, common, {{self}}, out);
}

Work ClampWork(const OpView& op) {
  int bounds = 0;
  for (int i = 1; i < op.arg_count(); ++i) bounds += op.given(i);
  return {.alu = work::Elements(op.output()) * bounds};
}

constexpr OpDef Clamp(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, Gradient grad) {
  return Kernel(
      Family::kElementwise, {name, summary, signature, example},
      {ClampShape, Fusion::kElementwise, DeviceAllocations{CastAllocations, CastAllocations},
       ClampWork, grad, precision::kFollow});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr WorkFn kAlu = work::PerOutput<PerElement{.alu = 1}>;
// Rounding and taking the sign away change the form of a number, as a cast does.
constexpr WorkFn kMove = work::PerOutput<PerElement{.move = 1}>;

constexpr std::array kRows{
    Knowing(contents::Scaled<segments::Add>,
            Binary<Promotion::kCommon>("aten::add.Tensor",
                                       "Adds, the second operand scaled by `alpha`.",
                                       "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                                       "aten::add.Tensor(f32[2,3,8], bf16[3,1])", gradients::kAdd)),
    Knowing(contents::Scaled<segments::Add>,
            BinaryInPlace<Promotion::kCommon>(
                "aten::add_.Tensor", "Adds into the first operand.",
                "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
                "aten::add_.Tensor(f16[2,8], f32[8])", gradients::kAdd)),
    Call("aten::add.Scalar", "Adds a number.",
         "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::add.Scalar(f32[2,8], 1)",
         decompose::BoxAndCall<"aten::add.Tensor", 1>, gradients::kAddNumber),
    Call("aten::add_.Scalar", "Adds a number into the tensor.",
         "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
         "aten::add_.Scalar(f32[2,8], 1)", decompose::BoxAndCall<"aten::add_.Tensor", 1>,
         gradients::kAddNumber),
    Knowing(contents::Scaled<segments::Subtract>,
            Binary<Promotion::kCommon>(
                "aten::sub.Tensor", "Subtracts the second operand scaled by `alpha`.",
                "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                "aten::sub.Tensor(i64[2,8], i32[8])", gradients::kSub, kAlu, SubtractShape)),
    Knowing(
        contents::Scaled<segments::Subtract>,
        BinaryInPlace<Promotion::kCommon>(
            "aten::sub_.Tensor", "Subtracts from the first operand.",
            "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
            "aten::sub_.Tensor(f32[2,8], f32[8])", gradients::kSub, kAlu, SubtractInPlaceShape)),
    Call("aten::sub.Scalar", "Subtracts a number.",
         "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::sub.Scalar(i64[2,8], 1.5)",
         decompose::BoxAndCall<"aten::sub.Tensor", 1>, gradients::kSubNumber),
    Call("aten::sub_.Scalar", "Subtracts a number from the tensor.",
         "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
         "aten::sub_.Scalar(f32[2,8], 1)", decompose::BoxAndCall<"aten::sub_.Tensor", 1>,
         gradients::kSubNumber),
    Call("aten::rsub.Scalar", "Subtracts the tensor from a number.",
         "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::rsub.Scalar(f32[2,8], 1)",
         SubtractFromNumber, gradients::kRsub),
    Call("aten::rsub.Tensor", "Subtracts the first operand from the second.",
         "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
         "aten::rsub.Tensor(f32[2,8], f32[8])", SubtractFrom, gradients::kRsubTensor),
    Knowing(contents::Pointwise<segments::Multiply>,
            Binary<Promotion::kCommon>("aten::mul.Tensor", "Multiplies.",
                                       "(Tensor self, Tensor other) -> Tensor",
                                       "aten::mul.Tensor(f32[2,3,8], f32[8])", gradients::kMul)),
    Knowing(
        contents::Pointwise<segments::Multiply>,
        BinaryInPlace<Promotion::kCommon>("aten::mul_.Tensor", "Multiplies into the first operand.",
                                          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                          "aten::mul_.Tensor(f32[2,8], i64[8])", gradients::kMul)),
    Call("aten::mul.Scalar", "Multiplies by a number.", "(Tensor self, Scalar other) -> Tensor",
         "aten::mul.Scalar(bf16[2,8], 0.5)", decompose::BoxAndCall<"aten::mul.Tensor", 1>,
         gradients::kMulNumber),
    Call("aten::mul_.Scalar", "Multiplies the tensor by a number in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::mul_.Scalar(f32[2,8], 0.5)",
         decompose::BoxAndCall<"steelyard::mul_into", 1>, gradients::kMulNumber),
    Call("aten::multiply.Tensor", "Multiplies.", "(Tensor self, Tensor other) -> Tensor",
         "aten::multiply.Tensor(f32[2,8], f32[8])", decompose::SameAs<"aten::mul.Tensor">),
    Call("aten::multiply.Scalar", "Multiplies by a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::multiply.Scalar(f32[2,8], 2)",
         decompose::SameAs<"aten::mul.Scalar">),
    Binary<Promotion::kFloat>("aten::div.Tensor", "Divides; integers become floating-point.",
                              "(Tensor self, Tensor other) -> Tensor",
                              "aten::div.Tensor(i64[2,8], i64[8])", gradients::kDiv),
    BinaryInPlace<Promotion::kFloat>("aten::div_.Tensor", "Divides the first operand in place.",
                                     "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                     "aten::div_.Tensor(f32[2,8], f32[8])", gradients::kDiv),
    Call("aten::div.Scalar", "Divides by a number.", "(Tensor self, Scalar other) -> Tensor",
         "aten::div.Scalar(f32[2,8], 3)", decompose::BoxAndCall<"aten::div.Tensor", 1>,
         gradients::kDivNumber),
    Call("aten::div_.Scalar", "Divides the tensor by a number in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::div_.Scalar(f32[2,8], 3)",
         decompose::BoxAndCall<"aten::div_.Tensor", 1>, gradients::kDivNumber),
    Knowing(contents::DividedDown,
            Kernel(Family::kElementwise,
                   {"aten::div.Tensor_mode", "Divides and rounds as `rounding_mode` says.",
                    "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
                    "aten::div.Tensor_mode(i64[2,8], i64[8], rounding_mode='floor')"},
                   {RoundedDivisionShape, Fusion::kBroadcast, RoundedDivisionAllocations, kAlu,
                    gradients::kRoundedDiv, precision::kFollow})),
    Call("aten::div.Scalar_mode", "Divides by a number and rounds as `rounding_mode` says.",
         "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
         "aten::div.Scalar_mode(f32[2,8], 3, rounding_mode='trunc')",
         decompose::BoxAndCall<"aten::div.Tensor_mode", 1>, gradients::kRoundedDivNumber),
    Knowing(contents::Pointwise<segments::FloorDivide>,
            Kernel(Family::kElementwise,
                   {"aten::floor_divide", "Divides and rounds down.",
                    "(Tensor self, Tensor other) -> Tensor", "aten::floor_divide(i64[2,8], 3)"},
                   {shape::Iterate<Promotion::kCommon, 0, 1>, Fusion::kBroadcast,
                    allocations::IterateByFactory<Promotion::kCommon, 0, 1>, kAlu,
                    gradients::kFloorDivide, precision::kFollow})),
    Call("aten::floor_divide.Scalar", "Divides by a number and rounds down.",
         "(Tensor self, Scalar other) -> Tensor", "aten::floor_divide.Scalar(i64[2,8], 3)",
         decompose::BoxAndCall<"aten::floor_divide", 1>),
    Binary<Promotion::kCommon>("aten::remainder.Tensor",
                               "The remainder of a division rounded down.",
                               "(Tensor self, Tensor other) -> Tensor",
                               "aten::remainder.Tensor(i64[2,8], i64[8])", gradients::kRemainder),
    Call("aten::remainder.Scalar_Tensor", "The remainder of a number's division, rounded down.",
         "(Scalar self, Tensor other) -> Tensor", "aten::remainder.Scalar_Tensor(7, f32[2,8])",
         decompose::BoxAndCall<"aten::remainder.Tensor", 0>),
    Call("aten::remainder.Scalar", "The remainder of a division by a number, rounded down.",
         "(Tensor self, Scalar other) -> Tensor", "aten::remainder.Scalar(i64[2,8], 3)",
         decompose::BoxAndCall<"aten::remainder.Tensor", 1>, gradients::kRemainderNumber),
    Knowing(contents::Pointwise<segments::Negative, 1>,
            Unary<Promotion::kCommon>("aten::neg", "Changes the sign.", "aten::neg(f32[2,8])",
                                      gradients::kNeg, kAlu)),
    Knowing(contents::Pointwise<segments::Absolute, 1>,
            Kernel(Family::kElementwise,
                   {"aten::abs", "The absolute value; real for complex numbers.",
                    "(Tensor self) -> Tensor", "aten::abs(i64[2,8])"},
                   {AbsShape, Fusion::kElementwise, AbsAllocations, kMove, gradients::kAbs,
                    precision::kFollow})),
    Unary<Promotion::kCommon>("aten::floor", "Rounds down.", "aten::floor(f32[2,8])",
                              gradients::kFloor, kMove),
    Unary<Promotion::kCommon>("aten::ceil", "Rounds up.", "aten::ceil(f32[2,8])", gradients::kCeil,
                              kMove),
    Unary<Promotion::kCommon>("aten::round", "Rounds to even.", "aten::round(f32[2,8])",
                              gradients::kRound, kMove),
    Unary<Promotion::kCommon>("aten::trunc", "Rounds to zero.", "aten::trunc(f32[2,8])",
                              gradients::kTrunc, kMove),
    Unary<Promotion::kCommon>("aten::sign", "-1, 0 or 1.", "aten::sign(f32[2,8])", gradients::kSign,
                              kMove),
    Unary<Promotion::kCommon>("aten::sgn", "-1, 0 or 1; of a complex number, its direction.",
                              "aten::sgn(f32[2,8])", gradients::kSgn, kMove),
    Casting(precision::kFullOnCuda, Kernel(Family::kElementwise,
                                           {"aten::pow.Tensor_Scalar", "Raises to a number.",
                                            "(Tensor self, Scalar exponent) -> Tensor",
                                            "aten::pow.Tensor_Scalar(i64[2,8], 0.5)"},
                                           {PowShape, Fusion::kElementwise,
                                            DeviceAllocations{CastAllocations, CastAllocations},
                                            PowWork, gradients::kPow, precision::kFollow})),
    Casting(precision::kFullOnCuda,
            Binary<Promotion::kCommon>("aten::pow.Tensor_Tensor", "Raises to the second operand.",
                                       "(Tensor self, Tensor exponent) -> Tensor",
                                       "aten::pow.Tensor_Tensor(f32[2,8], bf16[8])",
                                       gradients::kPowTensors,
                                       work::PerOutput<PerElement{.special = 1}>)),
    Casting(precision::kFullOnCuda,
            Kernel(Family::kElementwise,
                   {"aten::pow.Scalar", "Raises a number to the tensor.",
                    "(Scalar self, Tensor exponent) -> Tensor", "aten::pow.Scalar(2.0, i64[2,8])"},
                   {PowOfNumberShape, Fusion::kElementwise,
                    DeviceAllocations{PowOfNumberAllocations, PowOfNumberOnCuda},
                    work::PerOutput<PerElement{.special = 1}>, gradients::kPowOfNumber,
                    precision::kFollow})),
    UnaryInPlace("aten::pow_.Scalar", "Raises to a number in place.",
                 "(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
                 "aten::pow_.Scalar(f32[2,8], 3)", gradients::kPow, PowWork, OverwritePowShape),
    Call("aten::square", "The square.", "(Tensor self) -> Tensor", "aten::square(f32[2,8])",
         Square),
    Casting(precision::kFullOnCuda,
            Unary<Promotion::kFloat>("aten::reciprocal", "One over the element.",
                                     "aten::reciprocal(i64[2,8])", gradients::kReciprocal, kAlu)),
    Special("aten::sqrt", "The square root.", "aten::sqrt(f32[2,8])", gradients::kSqrt),
    Casting(precision::kFullOnCuda, Special("aten::rsqrt", "One over the square root.",
                                            "aten::rsqrt(f32[2,8])", gradients::kRsqrt)),
    Casting(precision::kFullOnCuda,
            Special("aten::exp", "The exponential.", "aten::exp(i64[2,8])", gradients::kExp)),
    Special("aten::exp2", "Two to the element.", "aten::exp2(f32[2,8])", gradients::kExp2),
    Casting(precision::kFullOnCuda, Special("aten::expm1", "The exponential minus one.",
                                            "aten::expm1(f32[2,8])", gradients::kExpm1)),
    Casting(precision::kFullOnCuda,
            Special("aten::log", "The natural logarithm.", "aten::log(f32[2,8])", gradients::kLog)),
    Casting(precision::kFullOnCuda, Special("aten::log2", "The logarithm to base 2.",
                                            "aten::log2(f32[2,8])", gradients::kLog2)),
    Casting(precision::kFullOnCuda, Special("aten::log10", "The logarithm to base 10.",
                                            "aten::log10(f32[2,8])", gradients::kLog10)),
    Casting(precision::kFullOnCuda, Special("aten::log1p", "The logarithm of one plus the element.",
                                            "aten::log1p(f32[2,8])", gradients::kLog1p)),
    Special("aten::sin", "The sine.", "aten::sin(f32[2,8])", gradients::kSin),
    Special("aten::cos", "The cosine.", "aten::cos(f32[8,2]{1,8})", gradients::kCos),
    Casting(precision::kFullOnCuda,
            Special("aten::tan", "The tangent.", "aten::tan(f32[2,8])", gradients::kTan)),
    Special("aten::atan", "The inverse tangent.", "aten::atan(f32[2,8])", gradients::kAtan),
    Special("aten::erf", "The error function.", "aten::erf(f32[2,8])", gradients::kErf),
    Casting(precision::kPromoteOnCuda,
            Binary<Promotion::kFloat>("aten::atan2", "The angle of a point.",
                                      "(Tensor self, Tensor other) -> Tensor",
                                      "aten::atan2(f32[2,8], f32[8])", gradients::kAtan2,
                                      work::PerOutput<PerElement{.special = 1}>)),
    Binary<Promotion::kFloat>("aten::xlogy.Tensor", "Products with a logarithm.",
                              "(Tensor self, Tensor other) -> Tensor",
                              "aten::xlogy.Tensor(f32[2,8], f32[8])", gradients::kXlogy,
                              work::PerOutput<PerElement{.alu = 1, .special = 1}>),
    Call("aten::xlogy.Scalar_Other", "Products with a number's logarithm.",
         "(Tensor self, Scalar other) -> Tensor", "aten::xlogy.Scalar_Other(f32[2,8], 2)",
         decompose::BoxAndCall<"aten::xlogy.Tensor", 1>, gradients::kXlogyOfNumber),
    Call("aten::xlogy.Scalar_Self", "A number times logarithms.",
         "(Scalar self, Tensor other) -> Tensor", "aten::xlogy.Scalar_Self(2, f32[2,8])",
         decompose::BoxAndCall<"aten::xlogy.Tensor", 0>, gradients::kXlogyByNumber),
    Clamp("aten::clamp", "Limits to [`min`, `max`].",
          "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
          "aten::clamp(i64[2,8], 0.5, 1)", gradients::kClamp),
    Clamp("aten::clamp_min", "Limits from below.", "(Tensor self, Scalar min) -> Tensor",
          "aten::clamp_min(f32[2,8], 1e-06)", gradients::kClampMin),
    Clamp("aten::clamp_max", "Limits from above.", "(Tensor self, Scalar max) -> Tensor",
          "aten::clamp_max(f32[2,8], 4.6)", gradients::kClampMax),
    UnaryInPlace("aten::clamp_", "Limits to [`min`, `max`] in place.",
                 "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
                 "aten::clamp_(f32[2,8], 0, 1)", gradients::kClamp, ClampWork),
    UnaryInPlace("aten::clamp_min_", "Limits from below in place.",
                 "(Tensor(a!) self, Scalar min) -> Tensor(a!)", "aten::clamp_min_(f32[2,8], 0)",
                 gradients::kClampMin, ClampWork),
    UnaryInPlace("aten::clamp_max_", "Limits from above in place.",
                 "(Tensor(a!) self, Scalar max) -> Tensor(a!)", "aten::clamp_max_(f32[2,8], 0)",
                 gradients::kClampMax, ClampWork),
    Knowing(contents::Pointwise<segments::Smaller>,
            Binary<Promotion::kCommon>("aten::minimum", "The smaller of two.",
                                       "(Tensor self, Tensor other) -> Tensor",
                                       "aten::minimum(f32[2,8], i64[8])", gradients::kMinimum)),
    Knowing(contents::Pointwise<segments::Larger>,
            Binary<Promotion::kCommon>("aten::maximum", "The larger of two.",
                                       "(Tensor self, Tensor other) -> Tensor",
                                       "aten::maximum(f32[2,8], f32[8])", gradients::kMaximum)),
    Call("aten::min.other", "The smaller of two.", "(Tensor self, Tensor other) -> Tensor",
         "aten::min.other(f32[2,8], f32[8])", decompose::SameAs<"aten::minimum">),
    Call("aten::max.other", "The larger of two.", "(Tensor self, Tensor other) -> Tensor",
         "aten::max.other(f32[2,8], f32[8])", decompose::SameAs<"aten::maximum">),
};

}  // namespace

std::span<const OpDef> Elementwise() { return kRows; }

}  // namespace steelyard::ops
