// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and comparisons that overwrite their first operand: what Python's `x %= y` and the
// methods with an underscore call. What the operator gives must fit into the operand.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/clamp.h"
#include "ops/gradients/comparison.h"
#include "ops/gradients/exponential.h"
#include "ops/gradients/floating_point.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/network.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/rounding.h"
#include "ops/gradients/special_functions.h"
#include "ops/gradients/trigonometric.h"
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

using work::PerElement;

// --- Shapes -------------------------------------------------------------------------------------

void Own(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}
void Real(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for " + shape::Text(op.self()));
  Own(op, out);
}
void AnyFloat(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype()) && !IsComplex(op.self().dtype())) {
    Refuse("a result of float32 cannot be written into " + shape::Text(op.self()));
  }
  Own(op, out);
}
void RealFloat(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  Own(op, out);
}
void Bits(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.self()}});
  Own(op, out);
}
template <Promotion kPromotion>
void RealPair(const OpView& op, Outputs& out) {
  for (int i : {0, 1}) {
    if (IsComplex(op.tensor(i).dtype())) Refuse("it is not defined for complex numbers");
  }
  shape::Overwrite<kPromotion, 0, 1>(op, out);
}
void PairOfBits(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}

// --- Limits and quotients -----------------------------------------------------------------------

// self, min, max: one of both, or none of them
void LimitsShape(const OpView& op, Outputs& out) {
  if (!op.given(1) && !op.given(2)) Refuse("neither a lower nor an upper limit");
  if (op.given(1) && op.given(2)) return shape::Overwrite<Promotion::kCommon, 0, 1, 2>(op, out);
  if (op.given(1)) return shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
  shape::Overwrite<Promotion::kCommon, 0, 2>(op, out);
}
void LimitsAllocations(const OpView& op, Allocations& memory) {
  if (op.given(1) && op.given(2)) {
    return allocations::Overwrite<Promotion::kCommon, 0, 1, 2>(op, memory);
  }
  if (op.given(1)) return allocations::Overwrite<Promotion::kCommon, 0, 1>(op, memory);
  allocations::Overwrite<Promotion::kCommon, 0, 2>(op, memory);
}

// Without rounding the quotient is a floating-point number.
bool Rounds(const OpView& op) { return op.given(2); }
void RoundedQuotientShape(const OpView& op, Outputs& out) {
  if (Rounds(op)) return RealPair<Promotion::kCommon>(op, out);
  shape::Overwrite<Promotion::kFloat, 0, 1>(op, out);
}
void RoundedQuotientAllocations(const OpView& op, Allocations& memory) {
  if (Rounds(op)) return allocations::Overwrite<Promotion::kCommon, 0, 1>(op, memory);
  allocations::Overwrite<Promotion::kFloat, 0, 1>(op, memory);
}

// --- Comparisons --------------------------------------------------------------------------------

// Truth is written as it is; a result of another dtype than they are compared in is copied.
void PairAllocations(const OpView& op, Allocations& memory) {
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
void NumberAllocations(const OpView& op, Allocations& memory) {
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
template <int kArgument>
Tensor Flat(Dispatcher& d, const Backward& b) {
  const TensorView of = b.op().tensor(kArgument);
  return d.Call("aten::zeros", Dims(of.sizes()), of.dtype());
}
constexpr Gradient kRoundToDecimals{"RoundBackward1", {GradientOf(0, {}, gradients::Zeros)}};
constexpr Gradient ZerosOfBoth(std::string_view node) {
  return Gradient(node, {GradientOf(1, {}, Flat<1>), GradientOf(0, {}, Flat<0>)});
}
constexpr Gradient ZerosOfOne(std::string_view node) {
  return Gradient(node, {GradientOf(0, {}, Flat<0>)});
}

// --- fill_diagonal_(self, fill_value, wrap)
// -------------------------------------------------------

// As a view of the elements whose places are all the same (ATen/native/Fill.cpp); of a tall matrix,
// again below a row that is left out.
std::vector<Tensor> FillDiagonal(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() < 2) Refuse("a matrix is needed, not " + shape::Text(self));
  std::int64_t rows = self.size(0), step = 0;
  for (int i = 0; i < self.rank(); ++i) {
    if (self.rank() > 2) shape::RequireEqual("sizes", self.size(i), self.size(0));
    rows = std::min(rows, self.size(i));
    step += self.stride(i);
  }
  const Tensor out = d.tensor(op, 0);
  {
    const Tensor diagonal = d.Call("aten::as_strided", out, Dims{rows}, Dims{step});
    d.Call("aten::fill_.Scalar", diagonal, op.arg(1));
  }
  const std::int64_t width = self.size(1);
  if (!op.boolean(2) || self.rank() != 2 || self.size(0) <= width + 1) return {out};
  const std::int64_t left = (self.size(0) * width + width) / (width + 1) - rows;
  const std::int64_t begin = (width + 1) * self.stride(0);
  const Tensor below = d.Call("aten::as_strided", out, Dims{left}, Dims{step}, begin);
  d.Call("aten::fill_.Scalar", below, op.arg(1));
  return {out};
}

// --- Makers -------------------------------------------------------------------------------------

constexpr OpDef Overwriting(const Words& words, ShapeFn shape, Fusion fusion,
                            AllocationsFn allocations, WorkFn work, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {.shape = shape,
                 .fusion = fusion,
                 .allocations = allocations,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow},
                Alias::kInPlace);
}
template <ShapeFn kShape>
constexpr OpDef Function(const Words& words, Gradient grad) {
  return Overwriting(words, kShape, Fusion::kElementwise, allocations::None,
                     work::PerOutput<PerElement{.special = 1}>, grad);
}
template <Promotion kPromotion>
constexpr OpDef Pair(const Words& words, Gradient grad) {
  return Overwriting(words, RealPair<kPromotion>, Fusion::kBroadcast,
                     allocations::Overwrite<kPromotion, 0, 1>,
                     work::PerOutput<PerElement{.alu = 1}>, grad);
}
constexpr OpDef BitPair(const Words& words) {
  return Overwriting(words, PairOfBits, Fusion::kBroadcast,
                     allocations::Overwrite<Promotion::kCommon, 0, 1>,
                     work::PerOutput<PerElement{.alu = 1}>, kNoGradient);
}
constexpr OpDef Comparison(const Words& words, Gradient grad) {
  return Overwriting(words, shape::Overwrite<Promotion::kCompare, 0, 1>, Fusion::kBroadcast,
                     PairAllocations, work::PerOutput<PerElement{.compare = 1}>, grad);
}
constexpr OpDef NumberComparison(const Words& words, Gradient grad) {
  return Overwriting(words, Own, Fusion::kElementwise, NumberAllocations,
                     work::PerOutput<PerElement{.compare = 1}>, grad);
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose, Gradient grad) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Function<AnyFloat>({"aten::acos_", "The inverse cosine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::acos_(f32[2,8])"},
                       gradients::kAcos),
    Function<AnyFloat>({"aten::asin_", "The inverse sine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::asin_(f32[2,8])"},
                       gradients::kAsin),
    Function<AnyFloat>({"aten::atan_", "The inverse tangent, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::atan_(f32[2,8])"},
                       gradients::kAtan),
    Function<AnyFloat>({"aten::tan_", "The tangent, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                        "aten::tan_(f32[2,8])"},
                       gradients::kTan),
    Function<AnyFloat>({"aten::sinh_", "The hyperbolic sine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::sinh_(f32[2,8])"},
                       gradients::kSinh),
    Function<AnyFloat>({"aten::cosh_", "The hyperbolic cosine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::cosh_(f32[2,8])"},
                       gradients::kCosh),
    Function<AnyFloat>({"aten::asinh_", "The inverse hyperbolic sine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::asinh_(f32[2,8])"},
                       gradients::kAsinh),
    Function<AnyFloat>({"aten::acosh_", "The inverse hyperbolic cosine, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::acosh_(f32[2,8])"},
                       gradients::kAcosh),
    Function<AnyFloat>({"aten::atanh_", "The inverse hyperbolic tangent, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::atanh_(f32[2,8])"},
                       gradients::kAtanh),
    Function<AnyFloat>({"aten::exp2_", "Two to the element, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::exp2_(f32[2,8])"},
                       gradients::kExp2),
    Function<AnyFloat>({"aten::expm1_", "The exponential minus one, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::expm1_(f32[2,8])"},
                       gradients::kExpm1),
    Function<AnyFloat>({"aten::log2_", "The logarithm to base 2, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::log2_(f32[2,8])"},
                       gradients::kLog2),
    Function<AnyFloat>({"aten::log10_", "The logarithm to base 10, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::log10_(f32[2,8])"},
                       gradients::kLog10),
    Function<RealFloat>({"aten::erf_", "The error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erf_(f32[2,8])"},
                        gradients::kErf),
    Function<RealFloat>({"aten::erfc_", "One minus the error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erfc_(f32[2,8])"},
                        gradients::kErfc),
    Function<RealFloat>({"aten::erfinv_", "The inverse error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erfinv_(f32[2,8])"},
                        gradients::kErfinv),
    Function<RealFloat>({"aten::lgamma_", "The logarithm of the gamma function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::lgamma_(f32[2,8])"},
                        gradients::kLgamma),
    Function<RealFloat>({"aten::digamma_", "The derivative of lgamma, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::digamma_(f32[2,8])"},
                        gradients::kDigamma),
    Function<AnyFloat>({"aten::sinc_", "The sine of pi x over pi x, in place.",
                        "(Tensor(a!) self) -> Tensor(a!)", "aten::sinc_(f32[2,8])"},
                       gradients::kSinc),
    Function<RealFloat>({"aten::i0_", "The modified Bessel function of order 0, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::i0_(f32[2,8])"},
                        gradients::kBessel),
    Function<Own>({"aten::abs_", "The absolute value, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                   "aten::abs_(f32[2,8])"},
                  gradients::kAbs),
    Function<Real>({"aten::trunc_", "Rounds to zero, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                    "aten::trunc_(f32[2,8])"},
                   gradients::kTrunc),
    Function<RealFloat>({"aten::frac_", "What is behind the point, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::frac_(f32[2,8])"},
                        gradients::kFrac),
    Function<Real>({"aten::sign_", "The sign, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                    "aten::sign_(f32[2,8])"},
                   gradients::kSign),
    Function<Bits>({"aten::bitwise_not_", "The other bits, in place.",
                    "(Tensor(a!) self) -> Tensor(a!)", "aten::bitwise_not_(i64[2,8])"},
                   kNoGradient),
    Function<Own>(
        {"aten::nan_to_num_", "Numbers for infinities and what is no number, in place.",
         "(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)",
         "aten::nan_to_num_(f32[2,8])"},
        gradients::kNanToNum),
    Function<RealFloat>({"aten::mish_", "x tanh(softplus(x)), in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::mish_(f32[2,8])"},
                        gradients::kMish),
    Function<RealFloat>(
        {"aten::logit_", "The logarithm of the odds, in place.",
         "(Tensor(a!) self, float? eps=None) -> Tensor(a!)", "aten::logit_(f32[2,8], 1e-6)"},
        gradients::kLogit),
    Function<RealFloat>({"aten::round_.decimals", "Rounds to a number of decimals, in place.",
                         "(Tensor(a!) self, *, int decimals) -> Tensor(a!)",
                         "aten::round_.decimals(f32[2,8], decimals=2)"},
                        kRoundToDecimals),
    Pair<Promotion::kFloat>(
        {"aten::atan2_", "The angle of a point, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::atan2_(f32[2,8], f32[8])"},
        gradients::kAtan2),
    Pair<Promotion::kFloat>({"aten::copysign_.Tensor", "The sign of another number, in place.",
                             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                             "aten::copysign_.Tensor(f32[2,8], f32[8])"},
                            gradients::kCopysign),
    Pair<Promotion::kFloat>(
        {"aten::xlogy_.Tensor", "x times the logarithm of y, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::xlogy_.Tensor(f32[2,8], f32[8])"},
        gradients::kXlogy),
    Pair<Promotion::kCommon>(
        {"aten::hypot_", "The length of a vector of two, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::hypot_(f32[2,8], f32[8])"},
        gradients::kHypot),
    Pair<Promotion::kCommon>({"aten::remainder_.Tensor", "The remainder of a division, in place.",
                              "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                              "aten::remainder_.Tensor(f32[2,8], f32[8])"},
                             gradients::kRemainder),
    Pair<Promotion::kCommon>(
        {"aten::fmod_.Tensor", "The remainder of a division rounded to zero, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::fmod_.Tensor(f32[2,8], f32[8])"},
        gradients::kFmod),
    Pair<Promotion::kCommon>({"aten::floor_divide_.Tensor", "Divides and rounds down, in place.",
                              "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                              "aten::floor_divide_.Tensor(f32[2,8], f32[8])"},
                             gradients::kFloorDivide),
    Pair<Promotion::kCommon>(
        {"aten::pow_.Tensor", "A power, in place.",
         "(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", "aten::pow_.Tensor(f32[2,8], f32[8])"},
        gradients::kPowTensors),
    Pair<Promotion::kCommon>(
        {"aten::heaviside_", "A step at zero, in place.",
         "(Tensor(a!) self, Tensor values) -> Tensor(a!)", "aten::heaviside_(f32[2,8], f32[8])"},
        kNoGradient),
    Pair<Promotion::kCommon>(
        {"aten::clamp_max_.Tensor", "Limits from above to what a tensor says, in place.",
         "(Tensor(a!) self, Tensor max) -> Tensor(a!)",
         "aten::clamp_max_.Tensor(f32[2,8], f32[8])"},
        gradients::kClampMaxByTensor),
    Overwriting({"aten::clamp_.Tensor", "Limits to what two tensors say, in place.",
                 "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
                 "aten::clamp_.Tensor(f32[2,8], f32[8], f32[8])"},
                LimitsShape, Fusion::kBroadcast, LimitsAllocations,
                work::PerOutput<PerElement{.alu = 2}>, gradients::kClampByTensors),
    Overwriting({"aten::div_.Tensor_mode", "Divides and rounds as `rounding_mode` says, in place.",
                 "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)",
                 "aten::div_.Tensor_mode(f32[2,8], f32[8], rounding_mode='floor')"},
                RoundedQuotientShape, Fusion::kBroadcast, RoundedQuotientAllocations,
                work::PerOutput<PerElement{.alu = 1}>, gradients::kRoundedDiv),
    Call({"aten::div_.Scalar_mode",
          "Divides by a number and rounds as `rounding_mode` says, in place.",
          "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)",
          "aten::div_.Scalar_mode(f32[2,8], 3, rounding_mode='floor')"},
         decompose::BoxAndCall<"aten::div_.Tensor_mode", 1>, gradients::kRoundedDivNumber),
    Call(
        {"aten::copysign_.Scalar", "The sign of a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::copysign_.Scalar(f32[2,8], -1.0)"},
        decompose::BoxAndCall<"aten::copysign_.Tensor", 1>, gradients::kCopysignNumber),
    Call(
        {"aten::xlogy_.Scalar_Other", "x times the logarithm of a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::xlogy_.Scalar_Other(f32[2,8], 2)"},
        decompose::BoxAndCall<"aten::xlogy_.Tensor", 1>, gradients::kXlogyOfNumber),
    BitPair({"aten::gcd_", "The greatest common divisor, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::gcd_(i64[2,8], i64[8])"}),
    BitPair({"aten::lcm_", "The least common multiple, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::lcm_(i64[2,8], i64[8])"}),
    Call({"aten::fill_diagonal_", "A number written on the diagonal.",
          "(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
          "aten::fill_diagonal_(f32[8,5], 1)"},
         FillDiagonal, kGradientFromParts),
    BitPair({"aten::bitwise_xor_.Tensor", "Bits in which two differ, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
             "aten::bitwise_xor_.Tensor(i64[2,8], i64[8])"}),
    BitPair({"aten::bitwise_left_shift_.Tensor", "Bits moved to the left, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
             "aten::bitwise_left_shift_.Tensor(i64[2,8], i64[8])"}),
    BitPair({"aten::bitwise_right_shift_.Tensor", "Bits moved to the right, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
             "aten::bitwise_right_shift_.Tensor(i64[2,8], i64[8])"}),
    BitPair({"aten::__ilshift__.Tensor", "Bits moved to the left, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
             "aten::__ilshift__.Tensor(i64[2,8], i64[8])"}),
    BitPair({"aten::__irshift__.Tensor", "Bits moved to the right, in place.",
             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
             "aten::__irshift__.Tensor(i64[2,8], i64[8])"}),
    Comparison(
        {"aten::eq_.Tensor", "Whether two are equal, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::eq_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("EqBackward1")),
    NumberComparison(
        {"aten::eq_.Scalar", "Whether an element is equal than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::eq_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("EqBackward0")),
    Comparison(
        {"aten::ne_.Tensor", "Whether two differ, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::ne_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("NeBackward1")),
    NumberComparison(
        {"aten::ne_.Scalar", "Whether an element and a number differ, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::ne_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("NeBackward0")),
    Comparison(
        {"aten::lt_.Tensor", "Whether the first is smaller, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::lt_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("LtBackward1")),
    NumberComparison(
        {"aten::lt_.Scalar", "Whether an element is smaller than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::lt_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("LtBackward0")),
    Comparison(
        {"aten::le_.Tensor", "Whether the first is not larger, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::le_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("LeBackward1")),
    NumberComparison(
        {"aten::le_.Scalar", "Whether an element is not larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::le_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("LeBackward0")),
    Comparison(
        {"aten::gt_.Tensor", "Whether the first is larger, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::gt_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("GtBackward1")),
    NumberComparison(
        {"aten::gt_.Scalar", "Whether an element is larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::gt_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("GtBackward0")),
    Comparison(
        {"aten::ge_.Tensor", "Whether the first is not smaller, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::ge_.Tensor(f32[2,8], f32[8])"},
        ZerosOfBoth("GeBackward1")),
    NumberComparison(
        {"aten::ge_.Scalar", "Whether an element is not smaller than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::ge_.Scalar(f32[2,8], 2)"},
        ZerosOfOne("GeBackward0")),
    Call({"aten::remainder_.Scalar", "The remainder of a division by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::remainder_.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::remainder_.Tensor", 1>, gradients::kRemainderNumber),
    Call({"aten::fmod_.Scalar", "The remainder of a division by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::fmod_.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::fmod_.Tensor", 1>, gradients::kFmodNumber),
    Call(
        {"aten::bitwise_and_.Scalar", "Bits of a tensor and a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_and_.Scalar(i64[2,8], 3)"},
        decompose::BoxAndCall<"aten::bitwise_and_.Tensor", 1>, kNoGradient),
    Call({"aten::__iand__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__iand__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_and_.Scalar">, kGradientFromParts),
    Call({"aten::bitwise_or_.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_or_.Scalar(i64[2,8], 3)"},
         decompose::BoxAndCall<"aten::bitwise_or_.Tensor", 1>, kNoGradient),
    Call({"aten::__ior__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__ior__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_or_.Scalar">, kGradientFromParts),
    Call(
        {"aten::bitwise_xor_.Scalar", "Bits of a tensor and a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_xor_.Scalar(i64[2,8], 3)"},
        decompose::BoxAndCall<"aten::bitwise_xor_.Tensor", 1>, kNoGradient),
    Call({"aten::__ixor__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__ixor__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_xor_.Scalar">, kGradientFromParts),
    Call({"aten::__ixor__.Tensor", "Bits in which two differ, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__ixor__.Tensor(i64[2,8], i64[8])"},
         decompose::SameAs<"aten::bitwise_xor_.Tensor">, kGradientFromParts),
};

}  // namespace

std::span<const OpDef> InPlace() { return kRows; }

}  // namespace steelyard::ops
