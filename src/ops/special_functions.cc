// SPDX-License-Identifier: Apache-2.0
//
// Functions of torch.special: of error and distributions, gamma and zeta, Bessel, and their other
// names; and what else of arithmetic on elements has no in-place or tensor form elsewhere
// (ATen/native/UnaryOps.cpp, BinaryOps.cpp).

#include "ops/gradients/special_functions.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/clamp.h"
#include "ops/gradients/comparison.h"
#include "ops/gradients/exponential.h"
#include "ops/gradients/floating_point.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/rounding.h"
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

constexpr WorkFn kSpecial = work::PerOutput<PerElement{.special = 1}>;
constexpr WorkFn kAlu = work::PerOutput<PerElement{.alu = 1}>;

// --- Of one tensor ------------------------------------------------------------------------------

void RealShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for " + shape::Text(op.self()));
  shape::Iterate<Promotion::kFloat, 0>(op, out);
}
constexpr OpDef OfOne(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {.shape = RealShape,
                 .fusion = Fusion::kElementwise,
                 .allocations = allocations::Iterate<Promotion::kFloat, 0>,
                 .work = kSpecial,
                 .grad = grad,
                 .precision = precision::kFollow});
}

void FloatingShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}

void ThresholdShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype()) || op.self().dtype() == DType::kBool) {
    Refuse("it is not defined for " + shape::Text(op.self()));
  }
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}

std::vector<Tensor> NormalDistribution(Dispatcher& d, const OpView& op) {
  const Tensor scaled = d.Call("aten::mul.Scalar", d.tensor(op, 0), std::numbers::sqrt2 / 2);
  const Tensor error = d.Call("aten::erf", scaled);
  const Tensor sum = d.Call("aten::add.Scalar", error, std::int64_t{1});
  return {d.Call("aten::mul.Scalar", sum, 0.5)};
}

// self, p
std::vector<Tensor> MultivariateGamma(Dispatcher& d, const OpView& op) {
  const double p = op.real(1);
  if (p < 1) Refuse("p counts dimensions");
  const Tensor arguments = gradients::GammaArguments(d, d.tensor(op, 0), op.integer(1));
  d.Call("aten::lgamma_", arguments);
  const Tensor sum = d.Call("aten::sum.dim_IntList", arguments, Dims{-1});
  d.Call("aten::add_.Scalar", sum, p * (p - 1) / 4);
  return {sum};
}

// Angles are scaled into a tensor that is made first.
void AngleShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for complex numbers");
  shape::Like(op.self(), FloatOf(op.self().dtype()), out);
}
void AngleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty_strided");
  const DType computed = op.output().dtype();
  const auto box = memory.Allocate(BitsOf(DType::kFloat64) / 8);
  const auto cast = allocations::Cast(op.self(), computed, memory);
  if (computed != DType::kFloat64) {
    memory.Free(memory.Allocate(BitsOf(computed) / 8, "aten::empty_strided"), "aten::mul");
  }
  if (cast) memory.Free(*cast, "aten::mul");
  memory.Free(box);
}
constexpr double kDegree = std::numbers::pi / 180;
Tensor ByDegree(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), kDegree);
}
Tensor ByRadian(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), 1 / kDegree);
}
constexpr OpDef Angle(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {.shape = AngleShape,
                 .fusion = Fusion::kElementwise,
                 .allocations = AngleAllocations,
                 .work = kAlu,
                 .grad = grad,
                 .precision = precision::kFollow});
}

std::vector<Tensor> Positive(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() == DType::kBool) Refuse("bool has no sign");
  return {d.tensor(op, 0)};
}

// self, threshold, value
Tensor BelowThreshold(Dispatcher& d, const Backward& b) {
  return d.Call("aten::threshold_backward", b.grad(), b.saved(0), b.op().arg(1));
}
constexpr Gradient kThreshold{"ThresholdBackward0", {GradientOf(0, {0}, BelowThreshold)}};
constexpr Gradient kThresholdInPlace{"ThresholdBackward1", {GradientOf(0, {0}, BelowThreshold)}};

// --- Of two tensors -----------------------------------------------------------------------------

template <Promotion kPromotion>
void RealPairShape(const OpView& op, Outputs& out) {
  for (int i : {0, 1}) {
    if (IsComplex(op.tensor(i).dtype())) Refuse("it is not defined for complex numbers");
  }
  shape::Iterate<kPromotion, 0, 1>(op, out);
}
template <Promotion kPromotion>
constexpr OpDef OfTwo(const Words& words, Gradient grad, WorkFn work = kSpecial) {
  return Kernel(Family::kElementwise, words,
                {.shape = RealPairShape<kPromotion>,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::Iterate<kPromotion, 0, 1>,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow});
}
// Euclid's algorithm takes at least one step, of a division and a comparison; how many it takes
// depends on the numbers.
constexpr WorkFn kDivisions = work::PerOutput<PerElement{.alu = 1, .compare = 1}>;

void IntegerPairShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  if (ResultType(pair) == DType::kBool) Refuse("bool has no divisors");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr OpDef OfIntegers(const Words& words) {
  return Kernel(Family::kElementwise, words,
                {.shape = IntegerPairShape,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
                 .work = kDivisions,
                 .grad = kNoGradient,
                 .precision = precision::kFollow});
}

// What is next to a number moves with it.
Tensor NextSelf(Dispatcher& d, const Backward& b) {
  const Tensor differs = d.Call("aten::ne.Tensor", b.saved(0), b.saved(1));
  return d.Call("aten::where.ScalarOther", differs, b.grad(), std::int64_t{0});
}
Tensor NextOther(Dispatcher& d, const Backward& b) {
  const TensorView of = b.op().tensor(1);
  return d.Call("aten::zeros", Dims(of.sizes()), of.dtype());
}
constexpr Gradient kNext{"NextafterBackward0",
                         {GradientOf(1, {}, NextOther), GradientOf(0, {0, 1}, NextSelf)}};

// float_power: both in float64, or in complex128
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

// Ends and weights of one dtype; only a 0-dim weight may be of another.
void OverwriteLerpShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (op.tensor(2).dtype() != own && op.tensor(2).rank() > 0) {
    Refuse("ends and weights must be of one dtype");
  }
  shape::Overwrite<Promotion::kCommon, 0, 1, 2>(op, out);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient kRounded{"RoundBackward1", {GradientOf(0, {}, gradients::Zeros)}};

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

constexpr std::array kRows{
    OfOne({"aten::special_entr", "The entropy -x log x.", "(Tensor self) -> Tensor",
           "aten::special_entr(f32[2,8])"},
          gradients::kEntropy),
    OfOne({"aten::special_erfcx", "erfc, scaled by the exponential of x squared.",
           "(Tensor self) -> Tensor", "aten::special_erfcx(f32[2,8])"},
          gradients::kScaledErfc),
    OfOne({"aten::special_i0e", "The modified Bessel function of order 0, scaled.",
           "(Tensor self) -> Tensor", "aten::special_i0e(f32[2,8])"},
          gradients::kScaledBessel),
    OfOne({"aten::special_i1e", "The modified Bessel function of order 1, scaled.",
           "(Tensor self) -> Tensor", "aten::special_i1e(f32[2,8])"},
          gradients::kScaledBesselOne),
    OfOne({"aten::special_log_ndtr", "The logarithm of the normal distribution function.",
           "(Tensor self) -> Tensor", "aten::special_log_ndtr(f32[2,8])"},
          gradients::kLogNormalDistribution),
    OfOne({"aten::special_ndtri", "The inverse of the normal distribution function.",
           "(Tensor self) -> Tensor", "aten::special_ndtri(f32[2,8])"},
          gradients::kNormalQuantile),
    OfOne({"aten::special_bessel_j0", "The Bessel function of order 0.", "(Tensor self) -> Tensor",
           "aten::special_bessel_j0(f32[2,8])"},
          kGradientUnknown),
    OfOne({"aten::special_bessel_j1", "The Bessel function of order 1.", "(Tensor self) -> Tensor",
           "aten::special_bessel_j1(f32[2,8])"},
          kGradientUnknown),
    OfOne({"aten::special_bessel_y0", "The Bessel function of the second kind of order 0.",
           "(Tensor self) -> Tensor", "aten::special_bessel_y0(f32[2,8])"},
          kGradientUnknown),
    OfOne({"aten::special_bessel_y1", "The Bessel function of the second kind of order 1.",
           "(Tensor self) -> Tensor", "aten::special_bessel_y1(f32[2,8])"},
          kGradientUnknown),
    OfOne({"aten::special_airy_ai", "The Airy function.", "(Tensor x) -> Tensor",
           "aten::special_airy_ai(f32[2,8])"},
          kNoGradient),
    Call({"aten::special_ndtr", "The normal distribution function.", "(Tensor self) -> Tensor",
          "aten::special_ndtr(f32[2,8])"},
         NormalDistribution),
    OfTwo<Promotion::kFloat>(
        {"aten::special_zeta", "The Hurwitz zeta function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::special_zeta(f32[2,8], f32[8])"},
        gradients::kZeta),
    OfTwo<Promotion::kFloat>(
        {"aten::special_xlog1py", "x times the logarithm of 1 + y.",
         "(Tensor self, Tensor other) -> Tensor", "aten::special_xlog1py(f32[2,8], f32[8])"},
        gradients::kXlog1py),
    Call({"aten::special_xlog1py.other_scalar", "x times the logarithm of 1 + a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::special_xlog1py.other_scalar(f32[2,8], 2)"},
         decompose::BoxAndCall<"aten::special_xlog1py", 1>, gradients::kXlog1pyByNumber),
    Call(
        {"aten::special_xlog1py.self_scalar", "A number times the logarithm of 1 + y.",
         "(Scalar self, Tensor other) -> Tensor", "aten::special_xlog1py.self_scalar(2, f32[2,8])"},
        decompose::BoxAndCall<"aten::special_xlog1py", 0>, gradients::kXlog1pyOfNumber),
    OfTwo<Promotion::kCommon>(
        {"aten::igamma", "The lower incomplete gamma function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::igamma(f32[2,8], f32[8])"},
        gradients::kIncompleteGamma),
    OfTwo<Promotion::kCommon>(
        {"aten::igammac", "The upper incomplete gamma function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::igammac(f32[2,8], f32[8])"},
        gradients::kComplementedGamma),
    Call({"aten::special_gammainc", "The lower incomplete gamma function.",
          "(Tensor self, Tensor other) -> Tensor", "aten::special_gammainc(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::igamma">),
    Call({"aten::special_gammaincc", "The upper incomplete gamma function.",
          "(Tensor self, Tensor other) -> Tensor", "aten::special_gammaincc(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::igammac">),
    Call({"aten::mvlgamma", "The logarithm of the gamma function of `p` dimensions.",
          "(Tensor self, int p) -> Tensor", "aten::mvlgamma(f32[2,8], 2)"},
         MultivariateGamma, gradients::kMultivariateGamma),
    Call({"aten::special_multigammaln", "The logarithm of the gamma function of `p` dimensions.",
          "(Tensor self, int p) -> Tensor", "aten::special_multigammaln(f32[2,8], 2)"},
         decompose::SameAs<"aten::mvlgamma">),
    Call({"aten::special_polygamma", "A derivative of digamma.", "(int n, Tensor self) -> Tensor",
          "aten::special_polygamma(1, f32[2,8])"},
         decompose::SameAs<"aten::polygamma">),
    OfTwo<Promotion::kCommon>(
        {"aten::nextafter", "The next number towards another one.",
         "(Tensor self, Tensor other) -> Tensor", "aten::nextafter(f32[2,8], f32[8])"},
        kNext, kAlu),
    OfIntegers({"aten::gcd", "The greatest common divisor.",
                "(Tensor self, Tensor other) -> Tensor", "aten::gcd(i64[2,8], i32[8])"}),
    OfIntegers({"aten::lcm", "The least common multiple.", "(Tensor self, Tensor other) -> Tensor",
                "aten::lcm(i64[2,8], i64[8])"}),
    Angle({"aten::deg2rad", "Degrees as radians.", "(Tensor self) -> Tensor",
           "aten::deg2rad(f32[2,8])"},
          Gradient("Deg2RadBackward0", {GradientOf(0, {}, ByDegree)})),
    Angle({"aten::rad2deg", "Radians as degrees.", "(Tensor self) -> Tensor",
           "aten::rad2deg(f32[2,8])"},
          Gradient("Rad2DegBackward0", {GradientOf(0, {}, ByRadian)})),
    Call({"aten::positive", "The tensor itself.", "(Tensor(a) self) -> Tensor(a)",
          "aten::positive(f32[2,8])"},
         Positive),
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
    Kernel(
        Family::kElementwise,
        {"aten::round.decimals", "Rounds behind the point.",
         "(Tensor self, *, int decimals) -> Tensor", "aten::round.decimals(f32[2,8], decimals=2)"},
        {.shape = FloatingShape,
         .fusion = Fusion::kElementwise,
         .allocations = allocations::OutputsOnly,
         .work = work::PerOutput<PerElement{.alu = 3}>,
         .grad = kRounded,
         .precision = precision::kFollow}),
    Kernel(Family::kElementwise,
           {"aten::threshold", "A number for whatever is not above a threshold.",
            "(Tensor self, Scalar threshold, Scalar value) -> Tensor",
            "aten::threshold(f32[2,8], 0.1, 2.0)"},
           {.shape = ThresholdShape,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::OutputsOnly,
            .work = work::PerOutput<PerElement{.compare = 1}>,
            .grad = kThreshold,
            .precision = precision::kFollow}),
    Kernel(Family::kElementwise,
           {"aten::threshold_", "A number for whatever is not above a threshold, in place.",
            "(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)",
            "aten::threshold_(f32[2,8], 0.1, 2.0)"},
           {.shape = shape::SameAs<0>,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::None,
            .work = work::PerOutput<PerElement{.compare = 1}>,
            .grad = kThresholdInPlace,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Kernel(Family::kElementwise,
           {"aten::lerp_.Tensor", "Goes parts of the way to `end`, in place.",
            "(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)",
            "aten::lerp_.Tensor(f32[2,8], f32[8], f32[2,1])"},
           {.shape = OverwriteLerpShape,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::Overwrite<Promotion::kCommon, 0, 1, 2>,
            .work = work::PerOutput<PerElement{.alu = 3}>,
            .grad = gradients::kLerpByTensor,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Call({"aten::bitwise_and.Scalar_Tensor", "Bits of a number and a tensor.",
          "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_and.Scalar_Tensor(15, u8[2,8])"},
         decompose::BoxAndCall<"aten::bitwise_and.Tensor", 0>, kNoGradient),
    Call({"aten::bitwise_or.Scalar_Tensor", "Bits of a number or a tensor.",
          "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_or.Scalar_Tensor(15, u8[2,8])"},
         decompose::BoxAndCall<"aten::bitwise_or.Tensor", 0>, kNoGradient),
    Call({"aten::bitwise_xor.Scalar_Tensor", "Bits in which a number and a tensor differ.",
          "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_xor.Scalar_Tensor(15, u8[2,8])"},
         decompose::BoxAndCall<"aten::bitwise_xor.Tensor", 0>, kNoGradient),
    Call({"aten::bitwise_left_shift.Scalar_Tensor", "Bits of a number moved to the left.",
          "(Scalar self, Tensor other) -> Tensor",
          "aten::bitwise_left_shift.Scalar_Tensor(1, i64[2,8])"},
         decompose::BoxAndCall<"aten::bitwise_left_shift.Tensor", 0>, kNoGradient),
    Call({"aten::bitwise_right_shift.Scalar_Tensor", "Bits of a number moved to the right.",
          "(Scalar self, Tensor other) -> Tensor",
          "aten::bitwise_right_shift.Scalar_Tensor(64, i64[2,8])"},
         decompose::BoxAndCall<"aten::bitwise_right_shift.Tensor", 0>, kNoGradient),
};

}  // namespace

std::span<const OpDef> SpecialFunctions() { return kRows; }

}  // namespace steelyard::ops
