// SPDX-License-Identifier: Apache-2.0
//
// Powers and roots of each element. Small powers are products (ATen/native/cpu/PowKernel.cpp); the
// power of a number is made for the exponent alone.

#include "ops/gradients/power.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::Call;
using pointwise::kAlu;
using pointwise::kSpecial;
using pointwise::MathFunction;
using pointwise::MathFunctionInPlace;
using pointwise::RealBinaryInPlace;
using pointwise::Unary;
using pointwise::UnaryInPlace;

void PowShape(const OpView& op, Outputs& out) {
  const DType common = ResultType(op.self(), {op.arg(1)});
  if (!IsFloating(common) && !IsComplex(common) && op.real(1) < 0) {
    Refuse("integers cannot be raised to a negative power");
  }
  shape::AddIterated(common, common, {{op.self()}}, out);
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

void PowInPlaceShape(const OpView& op, Outputs& out) {
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
std::vector<Tensor> SquareInPlace(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::pow_.Scalar", d.tensor(op, 0), 2)};
}

// --- ldexp --------------------------------------------------------------------------------------

// Real numbers and whole exponents have a kernel, which casts neither.
bool AddsToExponents(const OpView& op) {
  const DType exponents = op.tensor(1).dtype();
  if (!IsFloating(op.self().dtype())) return false;
  if (exponents == DType::kBool) Refuse("exponents of real numbers are not bool");
  return IsIntegral(exponents);
}

// self, numbers, exponents
void ExponentsShape(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  if (!std::ranges::equal(shape::Broadcast({op.tensor(1), op.tensor(2)}), op.self().sizes())) {
    Contradict("numbers and their exponents do not fit into " + shape::Text(op.self()));
  }
  out.AddLike(op.self());
}

// The two is of the numbers' dtype, unless that is what a Python number would be of anyway.
Tensor PowerOfTwo(Dispatcher& d, const OpView& op) {
  const DType dtype = op.self().dtype();
  const Tensor exponent = d.tensor(op, 1);
  if (dtype == DType::kFloat32 || !(IsFloating(dtype) || IsComplex(dtype))) {
    return d.Call("aten::pow.Scalar", Argument::OfFloat(2.0), exponent);
  }
  return d.Call("aten::pow.Tensor_Tensor", d.Call("aten::full", Dims(), 2.0, dtype), exponent);
}
std::vector<Tensor> TimesPowerOfTwo(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (!AddsToExponents(op)) return {d.Call("aten::mul.Tensor", self, PowerOfTwo(d, op))};
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  const Tensor out = d.Call("aten::empty_like", d.Call("aten::expand", self, sizes));
  return {d.Call("steelyard::add_exponents_", out, self, d.tensor(op, 1))};
}
std::vector<Tensor> TimesPowerOfTwoInPlace(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (AddsToExponents(op)) {
    return {d.Call("steelyard::add_exponents_", self, self, d.tensor(op, 1))};
  }
  const Dispatcher::Inside ldexp(d, "aten::ldexp");
  return {d.Call("steelyard::mul_into", self, PowerOfTwo(d, op))};
}

// --- float_power --------------------------------------------------------------------------------

// Both in float64, or in complex128.
Tensor Wide(Dispatcher& d, const OpView& op, int i, DType dtype) {
  return d.Call("aten::to.dtype", d.tensor(op, i), dtype);
}
DType WideType(std::initializer_list<DType> operands) {
  for (const DType dtype : operands) {
    if (IsComplex(dtype)) return DType::kComplex128;
  }
  return DType::kFloat64;
}
std::vector<Tensor> WidePower(Dispatcher& d, const OpView& op) {
  const DType dtype = WideType({op.tensor(0).dtype(), op.tensor(1).dtype()});
  const Tensor exponent = Wide(d, op, 1, dtype), base = Wide(d, op, 0, dtype);
  return {d.Call("aten::pow.Tensor_Tensor", base, exponent)};
}
std::vector<Tensor> WidePowerByNumber(Dispatcher& d, const OpView& op) {
  const DType dtype = WideType({op.tensor(0).dtype(), BoxedType(op.arg(1))});
  const Tensor base = Wide(d, op, 0, dtype);
  return {d.Call("aten::pow.Tensor_Scalar", base, Argument::OfFloat(op.real(1)))};
}
std::vector<Tensor> WidePowerOfNumber(Dispatcher& d, const OpView& op) {
  const DType dtype = WideType({BoxedType(op.arg(0)), op.tensor(1).dtype()});
  const Tensor exponent = Wide(d, op, 1, dtype);
  return {d.Call("aten::pow.Scalar", Argument::OfFloat(op.real(0)), exponent)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kFullOnCuda,
            Kernel(Family::kElementwise,
                   {"aten::pow.Tensor_Scalar", "Raises to a number.",
                    "(Tensor self, Scalar exponent) -> Tensor",
                    "aten::pow.Tensor_Scalar(i64[2,8], 0.5)"},
                   {PowShape, Fusion::kElementwise,
                    DeviceAllocations{pointwise::CastAllocations, pointwise::CastAllocations},
                    PowWork, gradients::kPow, precision::kFollow})),
    Casting(precision::kFullOnCuda,
            Binary<Promotion::kCommon>({"aten::pow.Tensor_Tensor", "Raises to the second operand.",
                                        "(Tensor self, Tensor exponent) -> Tensor",
                                        "aten::pow.Tensor_Tensor(f32[2,8], bf16[8])"},
                                       gradients::kPowTensors, kSpecial)),
    Casting(precision::kFullOnCuda,
            Kernel(Family::kElementwise,
                   {"aten::pow.Scalar", "Raises a number to the tensor.",
                    "(Scalar self, Tensor exponent) -> Tensor", "aten::pow.Scalar(2.0, i64[2,8])"},
                   {PowOfNumberShape, Fusion::kElementwise,
                    DeviceAllocations{PowOfNumberAllocations, PowOfNumberOnCuda}, kSpecial,
                    gradients::kPowOfNumber, precision::kFollow})),
    UnaryInPlace(
        {"aten::pow_.Scalar", "Raises to a number in place.",
         "(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", "aten::pow_.Scalar(f32[2,8], 3)"},
        PowInPlaceShape, gradients::kPow, PowWork),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::pow_.Tensor", "A power, in place.",
         "(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", "aten::pow_.Tensor(f32[2,8], f32[8])"},
        gradients::kPowTensors),
    Call({"aten::square", "The square.", "(Tensor self) -> Tensor", "aten::square(f32[2,8])"},
         Square),
    Call({"aten::square_", "x times x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
          "aten::square_(f32[2,8])"},
         SquareInPlace),
    MathFunction(
        {"aten::sqrt", "The square root.", "(Tensor self) -> Tensor", "aten::sqrt(f32[2,8])"},
        gradients::kSqrt),
    MathFunctionInPlace({"aten::sqrt_", "The square root, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::sqrt_(f32[2,8])"},
                        gradients::kSqrt),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::rsqrt", "One over the square root.", "(Tensor self) -> Tensor",
                          "aten::rsqrt(f32[2,8])"},
                         gradients::kRsqrt)),
    MathFunctionInPlace({"aten::rsqrt_", "One over the square root, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::rsqrt_(f32[2,8])"},
                        gradients::kRsqrt),
    Casting(precision::kFullOnCuda,
            Unary<Promotion::kFloat>({"aten::reciprocal", "One over the element.",
                                      "(Tensor self) -> Tensor", "aten::reciprocal(i64[2,8])"},
                                     gradients::kReciprocal, kAlu)),
    MathFunctionInPlace({"aten::reciprocal_", "One over x, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::reciprocal_(f32[2,8])"},
                        gradients::kReciprocal),
    Kernel(Family::kElementwise,
           {"steelyard::add_exponents_", "Whole numbers added to exponents, inside `ldexp`.",
            "(Tensor(a!) self, Tensor numbers, Tensor exponents) -> Tensor(a!)",
            "steelyard::add_exponents_(f32[2,8], f32[2,8], i64[8])"},
           {ExponentsShape, Fusion::kBroadcast, allocations::None, kAlu, kGradientUnknown,
            precision::kFollow},
           Alias::kInPlace),
    Call({"aten::ldexp.Tensor", "Times two to a power.", "(Tensor self, Tensor other) -> Tensor",
          "aten::ldexp.Tensor(f32[2,8], i64[8])"},
         TimesPowerOfTwo, gradients::kLdexp),
    Composite("aten::ldexp_", "Times two to a power, in place.",
              "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::ldexp_(f32[2,8], i64[8])",
              Family::kElementwise, TimesPowerOfTwoInPlace, precision::kFollow, gradients::kLdexp,
              Alias::kInPlace),
    Call({"aten::float_power.Tensor_Tensor", "Powers in double precision.",
          "(Tensor self, Tensor exponent) -> Tensor",
          "aten::float_power.Tensor_Tensor(f32[2,8], i64[8])"},
         WidePower),
    Call({"aten::float_power.Tensor_Scalar", "A power in double precision.",
          "(Tensor self, Scalar exponent) -> Tensor",
          "aten::float_power.Tensor_Scalar(f32[2,8], 2)"},
         WidePowerByNumber),
    Call({"aten::float_power.Scalar", "Powers of a number in double precision.",
          "(Scalar self, Tensor exponent) -> Tensor", "aten::float_power.Scalar(2, f32[2,8])"},
         WidePowerOfNumber),
};

}  // namespace

std::span<const OpDef> Power() { return kRows; }

}  // namespace steelyard::ops
