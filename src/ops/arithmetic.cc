// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on each element: sums, products, quotients and their remainders, signs and magnitudes,
// and common divisors, with PyTorch's type promotion (ATen/native/BinaryOps.cpp, UnaryOps.cpp).

#include "ops/gradients/arithmetic.h"

#include <array>
#include <vector>

#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/complex.h"
#include "ops/gradients/not_implemented.h"
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
using pointwise::BinaryInPlace;
using pointwise::Call;
using pointwise::kAlu;
using pointwise::kCompare;
using pointwise::kMove;
using pointwise::kSpecial;
using pointwise::RealBinary;
using pointwise::RealBinaryInPlace;
using pointwise::Unary;
using pointwise::UnaryInPlace;
using work::PerElement;

// --- Signs and magnitudes -----------------------------------------------------------------------

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

void SignedInPlaceShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() == DType::kBool) Refuse("bool has no sign", "Use logical_not.");
  pointwise::InPlaceShape(op, out);
}

std::vector<Tensor> Positive(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() == DType::kBool) Refuse("bool has no sign");
  return {d.tensor(op, 0)};
}

void StepShape(const OpView& op, Outputs& out) {
  if (op.tensor(0).dtype() != op.tensor(1).dtype()) Refuse("heaviside takes one dtype");
  pointwise::RealPairShape<Promotion::kCommon>(op, out);
}

// --- Differences --------------------------------------------------------------------------------

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

// --- Products and quotients ---------------------------------------------------------------------

// `mul_` of a number and `ldexp_` call `mul` with the tensor as the output, which frees casts.
constexpr std::array kFactors{0, 1};
void MultiplyAllocations(const OpView& op, Allocations& memory) {
  allocations::OverwriteFrom(op, Promotion::kCommon, kFactors, memory, "aten::mul");
}

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

void RoundedDivisionInPlaceShape(const OpView& op, Outputs& out) {
  if (op.given(2)) return pointwise::RealPairInPlaceShape<Promotion::kCommon>(op, out);
  shape::Overwrite<Promotion::kFloat, 0, 1>(op, out);
}
void RoundedDivisionInPlaceAllocations(const OpView& op, Allocations& memory) {
  if (op.given(2)) return allocations::Overwrite<Promotion::kCommon, 0, 1>(op, memory);
  allocations::Overwrite<Promotion::kFloat, 0, 1>(op, memory);
}

// --- Common divisors ----------------------------------------------------------------------------

// Euclid's algorithm takes at least one step, of a division and a comparison; how many it takes
// depends on the numbers.
constexpr WorkFn kDivisions = work::PerOutput<PerElement{.alu = 1, .compare = 1}>;

void DivisorsShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  if (ResultType(pair) == DType::kBool) Refuse("bool has no divisors");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(contents::Scaled<segments::Add>,
            Binary<Promotion::kCommon>(
                {"aten::add.Tensor", "Adds, the second operand scaled by `alpha`.",
                 "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                 "aten::add.Tensor(f32[2,3,8], bf16[3,1])"},
                gradients::kAdd)),
    Knowing(contents::Scaled<segments::Add>,
            BinaryInPlace<Promotion::kCommon>(
                {"aten::add_.Tensor", "Adds into the first operand.",
                 "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
                 "aten::add_.Tensor(f16[2,8], f32[8])"},
                gradients::kAdd)),
    CopyingOut(Call(
        {"aten::add.Scalar", "Adds a number.",
         "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::add.Scalar(f32[2,8], 1)"},
        decompose::BoxAndCall<"aten::add.Tensor", 1>, gradients::kAddNumber)),
    Call({"aten::add_.Scalar", "Adds a number into the tensor.",
          "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
          "aten::add_.Scalar(f32[2,8], 1)"},
         decompose::BoxAndCall<"aten::add_.Tensor", 1>, gradients::kAddNumber),
    Knowing(contents::Scaled<segments::Subtract>,
            Binary<Promotion::kCommon>(
                {"aten::sub.Tensor", "Subtracts the second operand scaled by `alpha`.",
                 "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                 "aten::sub.Tensor(i64[2,8], i32[8])"},
                gradients::kSub, kAlu, SubtractShape)),
    Knowing(contents::Scaled<segments::Subtract>,
            BinaryInPlace<Promotion::kCommon>(
                {"aten::sub_.Tensor", "Subtracts from the first operand.",
                 "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
                 "aten::sub_.Tensor(f32[2,8], f32[8])"},
                gradients::kSub, kAlu, SubtractInPlaceShape)),
    CopyingOut(Call({"aten::sub.Scalar", "Subtracts a number.",
                     "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                     "aten::sub.Scalar(i64[2,8], 1.5)"},
                    decompose::BoxAndCall<"aten::sub.Tensor", 1>, gradients::kSubNumber)),
    Call({"aten::sub_.Scalar", "Subtracts a number from the tensor.",
          "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
          "aten::sub_.Scalar(f32[2,8], 1)"},
         decompose::BoxAndCall<"aten::sub_.Tensor", 1>, gradients::kSubNumber),
    Call({"aten::subtract.Tensor", "Subtracts.",
          "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "aten::subtract.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::sub.Tensor">),
    CopyingOut(Call({"aten::rsub.Tensor", "Subtracts the first operand from the second.",
                     "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                     "aten::rsub.Tensor(f32[2,8], f32[8])"},
                    SubtractFrom, gradients::kRsubTensor)),
    CopyingOut(Call(
        {"aten::rsub.Scalar", "Subtracts the tensor from a number.",
         "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::rsub.Scalar(f32[2,8], 1)"},
        SubtractFromNumber, gradients::kRsub)),
    Knowing(contents::Pointwise<segments::Multiply>,
            Binary<Promotion::kCommon>(
                {"aten::mul.Tensor", "Multiplies.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::mul.Tensor(f32[2,3,8], f32[8])"},
                gradients::kMul)),
    Knowing(contents::Pointwise<segments::Multiply>,
            BinaryInPlace<Promotion::kCommon>(
                {"aten::mul_.Tensor", "Multiplies into the first operand.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::mul_.Tensor(f32[2,8], i64[8])"},
                gradients::kMul)),
    CopyingOut(Call({"aten::mul.Scalar", "Multiplies by a number.",
                     "(Tensor self, Scalar other) -> Tensor", "aten::mul.Scalar(bf16[2,8], 0.5)"},
                    decompose::BoxAndCall<"aten::mul.Tensor", 1>, gradients::kMulNumber)),
    Call({"aten::mul_.Scalar", "Multiplies the tensor by a number in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::mul_.Scalar(f32[2,8], 0.5)"},
         decompose::BoxAndCall<"steelyard::mul_into", 1>, gradients::kMulNumber),
    Kernel(
        Family::kElementwise,
        {"steelyard::mul_into", "Multiplies into the first operand, inside mul_.Scalar and ldexp_.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "steelyard::mul_into(f32[2,8], f32[])"},
        {.shape = shape::Overwrite<Promotion::kCommon, 0, 1>,
         .fusion = Fusion::kBroadcast,
         .allocations = MultiplyAllocations,
         .work = kAlu,
         .grad = kNoGradient,
         .precision = precision::kFollow},
        Alias::kInPlace),
    Call({"aten::multiply.Tensor", "Multiplies.", "(Tensor self, Tensor other) -> Tensor",
          "aten::multiply.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::mul.Tensor">),
    Call({"aten::multiply.Scalar", "Multiplies by a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::multiply.Scalar(f32[2,8], 2)"},
         decompose::SameAs<"aten::mul.Scalar">),
    Binary<Promotion::kFloat>(
        {"aten::div.Tensor", "Divides; integers become floating-point.",
         "(Tensor self, Tensor other) -> Tensor", "aten::div.Tensor(i64[2,8], i64[8])"},
        gradients::kDiv),
    BinaryInPlace<Promotion::kFloat>(
        {"aten::div_.Tensor", "Divides the first operand in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::div_.Tensor(f32[2,8], f32[8])"},
        gradients::kDiv),
    CopyingOut(Call({"aten::div.Scalar", "Divides by a number.",
                     "(Tensor self, Scalar other) -> Tensor", "aten::div.Scalar(f32[2,8], 3)"},
                    decompose::BoxAndCall<"aten::div.Tensor", 1>, gradients::kDivNumber)),
    Call({"aten::div_.Scalar", "Divides the tensor by a number in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::div_.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::div_.Tensor", 1>, gradients::kDivNumber),
    Knowing(contents::DividedDown,
            Kernel(Family::kElementwise,
                   {"aten::div.Tensor_mode", "Divides and rounds as `rounding_mode` says.",
                    "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
                    "aten::div.Tensor_mode(i64[2,8], i64[8], rounding_mode='floor')"},
                   {RoundedDivisionShape, Fusion::kBroadcast, RoundedDivisionAllocations, kAlu,
                    gradients::kRoundedDiv, precision::kFollow})),
    Kernel(Family::kElementwise,
           {"aten::div_.Tensor_mode", "Divides and rounds as `rounding_mode` says, in place.",
            "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)",
            "aten::div_.Tensor_mode(f32[2,8], f32[8], rounding_mode='floor')"},
           {.shape = RoundedDivisionInPlaceShape,
            .fusion = Fusion::kBroadcast,
            .allocations = RoundedDivisionInPlaceAllocations,
            .work = kAlu,
            .grad = gradients::kRoundedDiv,
            .precision = precision::kFollow},
           Alias::kInPlace),
    CopyingOut(
        Call({"aten::div.Scalar_mode", "Divides by a number and rounds as `rounding_mode` says.",
              "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
              "aten::div.Scalar_mode(f32[2,8], 3, rounding_mode='trunc')"},
             decompose::BoxAndCall<"aten::div.Tensor_mode", 1>, gradients::kRoundedDivNumber)),
    Call({"aten::div_.Scalar_mode",
          "Divides by a number and rounds as `rounding_mode` says, in place.",
          "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)",
          "aten::div_.Scalar_mode(f32[2,8], 3, rounding_mode='floor')"},
         decompose::BoxAndCall<"aten::div_.Tensor_mode", 1>, gradients::kRoundedDivNumber),
    Call({"aten::divide.Tensor", "Divides.", "(Tensor self, Tensor other) -> Tensor",
          "aten::divide.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::div.Tensor">),
    Call({"aten::divide.Scalar", "Divides by a number.", "(Tensor self, Scalar other) -> Tensor",
          "aten::divide.Scalar(f32[2,8], 3)"},
         decompose::SameAs<"aten::div.Scalar">),
    Call({"aten::true_divide.Tensor", "Divides.", "(Tensor self, Tensor other) -> Tensor",
          "aten::true_divide.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::div.Tensor">),
    Call({"aten::true_divide.Scalar", "Divides by a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::true_divide.Scalar(f32[2,8], 3)"},
         decompose::SameAs<"aten::div.Scalar">),
    Knowing(contents::Pointwise<segments::FloorDivide>,
            Kernel(Family::kElementwise,
                   {"aten::floor_divide", "Divides and rounds down.",
                    "(Tensor self, Tensor other) -> Tensor", "aten::floor_divide(i64[2,8], 3)"},
                   {shape::Iterate<Promotion::kCommon, 0, 1>, Fusion::kBroadcast,
                    allocations::IterateByFactory<Promotion::kCommon, 0, 1>, kAlu,
                    gradients::kFloorDivide, precision::kFollow})),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::floor_divide_.Tensor", "Divides and rounds down, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "aten::floor_divide_.Tensor(f32[2,8], f32[8])"},
        gradients::kFloorDivide),
    CopyingOut(
        Call({"aten::floor_divide.Scalar", "Divides by a number and rounds down.",
              "(Tensor self, Scalar other) -> Tensor", "aten::floor_divide.Scalar(i64[2,8], 3)"},
             decompose::BoxAndCall<"aten::floor_divide", 1>)),
    Binary<Promotion::kCommon>(
        {"aten::remainder.Tensor", "The remainder of a division rounded down.",
         "(Tensor self, Tensor other) -> Tensor", "aten::remainder.Tensor(i64[2,8], i64[8])"},
        gradients::kRemainder),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::remainder_.Tensor", "The remainder of a division, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "aten::remainder_.Tensor(f32[2,8], f32[8])"},
        gradients::kRemainder),
    Call({"aten::remainder.Scalar", "The remainder of a division by a number, rounded down.",
          "(Tensor self, Scalar other) -> Tensor", "aten::remainder.Scalar(i64[2,8], 3)"},
         decompose::BoxAndCall<"aten::remainder.Tensor", 1>, gradients::kRemainderNumber),
    Call({"aten::remainder_.Scalar", "The remainder of a division by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::remainder_.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::remainder_.Tensor", 1>, gradients::kRemainderNumber),
    CopyingOut(Call(
        {"aten::remainder.Scalar_Tensor", "The remainder of a number's division, rounded down.",
         "(Scalar self, Tensor other) -> Tensor", "aten::remainder.Scalar_Tensor(7, f32[2,8])"},
        decompose::BoxAndCall<"aten::remainder.Tensor", 0>, gradients::kNotImplementedOf<1>)),
    RealBinary<Promotion::kCommon>(
        {"aten::fmod.Tensor", "The remainder of a division rounded to zero.",
         "(Tensor self, Tensor other) -> Tensor", "aten::fmod.Tensor(f32[2,8], f32[8])"},
        gradients::kFmod),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::fmod_.Tensor", "The remainder of a division rounded to zero, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::fmod_.Tensor(f32[2,8], f32[8])"},
        gradients::kFmod),
    Call({"aten::fmod.Scalar", "The remainder of a division by a number, rounded to zero.",
          "(Tensor self, Scalar other) -> Tensor", "aten::fmod.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::fmod.Tensor", 1>, gradients::kFmodNumber),
    Call({"aten::fmod_.Scalar", "The remainder of a division by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::fmod_.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::fmod_.Tensor", 1>, gradients::kFmodNumber),
    Binary<Promotion::kCommon>(
        {"aten::gcd", "The greatest common divisor.", "(Tensor self, Tensor other) -> Tensor",
         "aten::gcd(i64[2,8], i32[8])"},
        kNoGradient, kDivisions, DivisorsShape),
    BinaryInPlace<Promotion::kCommon>(
        {"aten::gcd_", "The greatest common divisor, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::gcd_(i64[2,8], i64[8])"},
        kNoGradient, kAlu, pointwise::IntegralPairInPlaceShape),
    Binary<Promotion::kCommon>(
        {"aten::lcm", "The least common multiple.", "(Tensor self, Tensor other) -> Tensor",
         "aten::lcm(i64[2,8], i64[8])"},
        kNoGradient, kDivisions, DivisorsShape),
    BinaryInPlace<Promotion::kCommon>(
        {"aten::lcm_", "The least common multiple, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::lcm_(i64[2,8], i64[8])"},
        kNoGradient, kAlu, pointwise::IntegralPairInPlaceShape),
    Knowing(contents::Pointwise<segments::Negative, 1>,
            Unary<Promotion::kCommon>({"aten::neg", "Changes the sign.", "(Tensor self) -> Tensor",
                                       "aten::neg(f32[2,8])"},
                                      gradients::kNeg, kAlu)),
    TakingBits(MathBits::kNegative,
               Knowing(contents::Pointwise<segments::Negative, 1>,
                       UnaryInPlace({"aten::neg_", "Changes the sign, in place.",
                                     "(Tensor(a!) self) -> Tensor(a!)", "aten::neg_(f32[2,8])"},
                                    SignedInPlaceShape, gradients::kNeg, kAlu))),
    Call({"aten::negative", "Changes the sign.", "(Tensor self) -> Tensor",
          "aten::negative(f32[2,8])"},
         decompose::SameAs<"aten::neg">),
    Call({"aten::positive", "The tensor itself.", "(Tensor(a) self) -> Tensor(a)",
          "aten::positive(f32[2,8])"},
         Positive),
    Knowing(contents::Pointwise<segments::Absolute, 1>,
            Kernel(Family::kElementwise,
                   {"aten::abs", "The absolute value; real for complex numbers.",
                    "(Tensor self) -> Tensor", "aten::abs(i64[2,8])"},
                   {AbsShape, Fusion::kElementwise, AbsAllocations, kMove, gradients::kAbs,
                    precision::kFollow})),
    UnaryInPlace({"aten::abs_", "The absolute value, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::abs_(f32[2,8])"},
                 pointwise::InPlaceShape, gradients::kAbs, kSpecial),
    Call({"aten::absolute", "The absolute value.", "(Tensor self) -> Tensor",
          "aten::absolute(f32[2,8])"},
         decompose::SameAs<"aten::abs">),
    Unary<Promotion::kCommon>(
        {"aten::sign", "-1, 0 or 1.", "(Tensor self) -> Tensor", "aten::sign(f32[2,8])"},
        gradients::kSign, kMove),
    UnaryInPlace({"aten::sign_", "The sign, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::sign_(f32[2,8])"},
                 pointwise::RealInPlaceShape, gradients::kSign, kSpecial),
    Unary<Promotion::kCommon>({"aten::sgn", "-1, 0 or 1; of a complex number, its direction.",
                               "(Tensor self) -> Tensor", "aten::sgn(f32[2,8])"},
                              gradients::kSgn, kMove),
    UnaryInPlace({"aten::sgn_", "-1, 0 or 1, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::sgn_(f32[2,8])"},
                 pointwise::InPlaceShape, gradients::kSgn, kCompare),
    Binary<Promotion::kCommon>(
        {"aten::heaviside", "A step at zero.", "(Tensor self, Tensor values) -> Tensor",
         "aten::heaviside(f32[2,8], f32[8])"},
        gradients::kNotImplementedOf<0, 1>, kCompare, StepShape),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::heaviside_", "A step at zero, in place.",
         "(Tensor(a!) self, Tensor values) -> Tensor(a!)", "aten::heaviside_(f32[2,8], f32[8])"},
        gradients::kNotImplementedOf<0, 1>),
};

}  // namespace

std::span<const OpDef> Arithmetic() { return kRows; }

}  // namespace steelyard::ops
