// SPDX-License-Identifier: Apache-2.0
//
// Less common arithmetic on each element: special functions, tests for infinities, bounds that are
// tensors, products added, and unary functions that overwrite (ATen/native/UnaryOps.cpp,
// BinaryOps.cpp, PointwiseOps.cpp, Lerp.cpp).

#include <array>
#include <limits>
#include <vector>

#include "ops/contents/words.h"
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

constexpr WorkFn kAlu = work::PerOutput<PerElement{.alu = 1}>;
constexpr WorkFn kSpecial = work::PerOutput<PerElement{.special = 1}>;
constexpr WorkFn kCompare = work::PerOutput<PerElement{.compare = 1}>;

constexpr OpDef Elementwise(const Words& words, const Columns& columns) {
  return Kernel(Family::kElementwise, words, columns);
}
constexpr OpDef Overwriting(const Words& words, const Columns& columns) {
  return Kernel(Family::kElementwise, words, columns, Alias::kInPlace);
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kElementwise, words, decompose, grad);
}

// --- Of one tensor ------------------------------------------------------------------------------

// Complex numbers are in the domain, integers become float32.
constexpr Columns FloatOfOne(Gradient grad) {
  return {.shape = shape::Iterate<Promotion::kFloat, 0>,
          .fusion = Fusion::kElementwise,
          .allocations = allocations::Iterate<Promotion::kFloat, 0>,
          .work = kSpecial,
          .grad = grad,
          .precision = precision::kFollow};
}
void RefuseComplex(const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for " + shape::Text(op.self()));
}
template <ShapeFn kShape>
void RealShape(const OpView& op, Outputs& out) {
  RefuseComplex(op);
  kShape(op, out);
}
constexpr Columns RealOfOne(Gradient grad) {
  return {.shape = RealShape<shape::Iterate<Promotion::kFloat, 0>>,
          .fusion = Fusion::kElementwise,
          .allocations = allocations::Iterate<Promotion::kFloat, 0>,
          .work = kSpecial,
          .grad = grad,
          .precision = precision::kFollow};
}

void FloatingShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}
constexpr Columns Rectifier(Gradient grad) {
  return {.shape = FloatingShape,
          .fusion = Fusion::kElementwise,
          .allocations = allocations::OutputsOnly,
          .work = kCompare,
          .grad = grad,
          .precision = precision::kFollow};
}

void TestShape(const OpView& op, Outputs& out) {
  RefuseComplex(op);
  shape::AddIterated(DType::kBool, op.self().dtype(), {{op.self()}}, out);
}
constexpr Columns kTest{.shape = TestShape,
                        .fusion = Fusion::kElementwise,
                        .allocations = allocations::OutputsOnly,
                        .work = kCompare,
                        .grad = kNoGradient,
                        .precision = precision::kFollow};

constexpr Columns kNumbersForNan{.shape = shape::Like<0>,
                                 .fusion = Fusion::kElementwise,
                                 .allocations = allocations::Via<"aten::empty_strided">,
                                 .work = kCompare,
                                 .grad = gradients::kNanToNum,
                                 .precision = precision::kFollow};

void PolygammaShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.tensor(1).dtype())) Refuse("it is not defined for complex numbers");
  if (op.integer(0) < 0) Refuse("a derivative of a negative order");
  shape::Iterate<Promotion::kFloat, 1>(op, out);
}

void LogitShape(const OpView& op, Outputs& out) {
  RefuseComplex(op);
  shape::Iterate<Promotion::kFloat, 0>(op, out);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Tensor> IsInf(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (IsComplex(self.dtype())) {
    const Tensor out = d.Call("aten::isinf", d.Call("aten::real", self));
    const Tensor other = d.Call("aten::isinf", d.Call("aten::imag", self));
    return {d.Call("aten::__ior__.Tensor", out, other)};
  }
  if (!IsFloating(self.dtype())) return {d.Call("aten::zeros_like", self, DType::kBool)};
  return {d.Call("aten::eq.Scalar", d.Call("aten::abs", self), kInfinity)};
}

std::vector<Tensor> IsFinite(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (IsComplex(self.dtype())) {
    const Tensor out = d.Call("aten::isfinite", d.Call("aten::real", self));
    const Tensor other = d.Call("aten::isfinite", d.Call("aten::imag", self));
    return {d.Call("aten::__iand__.Tensor", out, other)};
  }
  if (!IsFloating(self.dtype())) return {d.Call("aten::ones_like", self, DType::kBool)};
  const Tensor magnitude = d.Call("aten::abs", self);
  const Tensor bounded = d.Call("aten::ne.Scalar", magnitude, kInfinity);
  const Tensor number = d.Call("aten::eq.Tensor", self, self);
  return {d.Call("aten::mul.Tensor", number, bounded)};
}

// --- Overwriting --------------------------------------------------------------------------------

// What the function gives must fit into the tensor.
void OverwriteFloatShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype()) && !IsComplex(op.self().dtype())) {
    Refuse("a result of float32 cannot be written into " + shape::Text(op.self()));
  }
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}
void OverwriteOwnShape(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}
void OverwriteRealShape(const OpView& op, Outputs& out) {
  RefuseComplex(op);
  OverwriteOwnShape(op, out);
}
void OverwriteSignedShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() == DType::kBool) Refuse("bool has no sign", "Use logical_not.");
  OverwriteOwnShape(op, out);
}
constexpr Columns OverwriteFloat(Gradient grad) {
  return {.shape = OverwriteFloatShape,
          .fusion = Fusion::kElementwise,
          .allocations = allocations::None,
          .work = kSpecial,
          .grad = grad,
          .precision = precision::kFollow};
}
constexpr Columns OverwriteReal(Gradient grad) {
  return {.shape = OverwriteRealShape,
          .fusion = Fusion::kElementwise,
          .allocations = allocations::None,
          .work = work::PerOutput<PerElement{.move = 1}>,
          .grad = grad,
          .precision = precision::kFollow};
}

std::vector<Tensor> OverwriteSquare(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::pow_.Scalar", d.tensor(op, 0), 2)};
}

// --- Of two tensors -----------------------------------------------------------------------------

constexpr Columns kWithSign{.shape = shape::Iterate<Promotion::kFloat, 0, 1>,
                            .fusion = Fusion::kBroadcast,
                            .allocations = allocations::Iterate<Promotion::kFloat, 0, 1>,
                            .work = kAlu,
                            .grad = gradients::kCopysign,
                            .precision = precision::kFollow};

void RealPairShape(const OpView& op, Outputs& out) {
  for (int i : {0, 1}) {
    if (IsComplex(op.tensor(i).dtype())) Refuse("it is not defined for complex numbers");
  }
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr Columns RealOfTwo(Gradient grad) {
  return {.shape = RealPairShape,
          .fusion = Fusion::kBroadcast,
          .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
          .work = kAlu,
          .grad = grad,
          .precision = precision::kFollow};
}

void FloatPairShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  const DType common = ResultType(pair);
  if (!IsFloating(common) && !IsComplex(common)) Refuse("floating-point tensors are needed");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr Columns FloatOfTwo(Gradient grad) {
  return {.shape = FloatPairShape,
          .fusion = Fusion::kBroadcast,
          .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
          .work = kSpecial,
          .grad = grad,
          .precision = precision::kFollow};
}

void BitsShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  if (ResultType(pair) == DType::kBool) Refuse("bits of bool cannot be shifted");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr Columns kShift{.shape = BitsShape,
                         .fusion = Fusion::kBroadcast,
                         .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
                         .work = kAlu,
                         .grad = kNoGradient,
                         .precision = precision::kFollow};
constexpr Columns kShiftByFactory{
    .shape = BitsShape,
    .fusion = Fusion::kBroadcast,
    .allocations = allocations::IterateByFactory<Promotion::kCommon, 0, 1>,
    .work = kAlu,
    .grad = kNoGradient,
    .precision = precision::kFollow};

void OverwriteBitsShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}
constexpr Columns kOverwriteBits{.shape = OverwriteBitsShape,
                                 .fusion = Fusion::kBroadcast,
                                 .allocations = allocations::Overwrite<Promotion::kCommon, 0, 1>,
                                 .work = kAlu,
                                 .grad = kNoGradient,
                                 .precision = precision::kFollow};

void StepShape(const OpView& op, Outputs& out) {
  if (op.tensor(0).dtype() != op.tensor(1).dtype()) Refuse("heaviside takes one dtype");
  RealPairShape(op, out);
}
constexpr Columns kStep{.shape = StepShape,
                        .fusion = Fusion::kBroadcast,
                        .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
                        .work = kCompare,
                        .grad = kNoGradient,
                        .precision = precision::kFollow};

// --- Bounds -------------------------------------------------------------------------------------

template <ShapeFn kShape>
void BoundsShape(const OpView& op, Outputs& out) {
  bool any = false;
  for (int i = 0; i < op.arg_count(); ++i) {
    any = any || (i > 0 && op.given(i));
    if (op.given(i) && IsComplex(op.tensor(i).dtype())) Refuse("complex numbers have no order");
  }
  if (!any) Refuse("clamp needs a minimum or a maximum");
  kShape(op, out);
}
constexpr Columns kBounds{.shape = BoundsShape<shape::Iterate<Promotion::kCommon, 0, 1, 2>>,
                          .fusion = Fusion::kBroadcast,
                          .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                          .work = work::PerOutput<PerElement{.alu = 2}>,
                          .grad = gradients::kClampByTensors,
                          .precision = precision::kFollow};
constexpr Columns Bound(Gradient grad) {
  return {.shape = BoundsShape<shape::Iterate<Promotion::kCommon, 0, 1>>,
          .fusion = Fusion::kBroadcast,
          .allocations = allocations::Iterate<Promotion::kCommon, 0, 1>,
          .work = kAlu,
          .grad = grad,
          .precision = precision::kFollow};
}
constexpr Columns kOverwriteBound{.shape = BoundsShape<shape::Overwrite<Promotion::kCommon, 0, 1>>,
                                  .fusion = Fusion::kBroadcast,
                                  .allocations = allocations::Overwrite<Promotion::kCommon, 0, 1>,
                                  .work = kAlu,
                                  .grad = gradients::kClampMinByTensor,
                                  .precision = precision::kFollow};

// --- Of three tensors ---------------------------------------------------------------------------

constexpr WorkFn kMultiplyAndAdd = work::PerOutput<PerElement{.alu = 3}>;

void QuotientShape(const OpView& op, Outputs& out) {
  const auto whole = [&](int i) {
    const DType dtype = op.tensor(i).dtype();
    return !IsFloating(dtype) && !IsComplex(dtype);
  };
  if (whole(1) && whole(2)) Refuse("addcdiv does not divide integers", "Use add and div.");
  shape::Iterate<Promotion::kCommon, 0, 1, 2>(op, out);
}

// Ends and weights are of the tensor's dtype; only a 0-dim weight may be of another.
void LerpShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
void LerpByTensorShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (op.tensor(2).dtype() != own && op.tensor(2).rank() > 0) {
    Refuse("ends and weights must be of one dtype");
  }
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  shape::Iterate<Promotion::kCommon, 0, 1, 2>(op, out);
}

// --- prelu --------------------------------------------------------------------------------------

void PreluShape(const OpView& op, Outputs& out) {
  if (!IsFloating(op.self().dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  if (op.tensor(1).dtype() != op.self().dtype()) Refuse("the weight must be of the same dtype");
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes), op.self().sizes())) {
    Refuse("the weight is larger than the tensor");
  }
  shape::Like<0>(op, out);
}

// Of the weight in its broadcast shape.
void PreluBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), self = op.tensor(1), weight = op.tensor(2);
  if (self.dtype() != weight.dtype() || grad.dtype() != self.dtype()) {
    Refuse("gradient, operand and weight must be of the same dtype");
  }
  shape::Iterate<Promotion::kCommon, 1, 2, 0>(op, out);
  shape::Iterate<Promotion::kCommon, 1, 2, 0>(op, out);
}

// The weight belongs to dimension 1.
std::vector<Tensor> Prelu(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self(), weight = op.tensor(1);
  if (weight.dtype() != self.dtype()) Refuse("the weight must be of the same dtype");
  if (weight.rank() > 1) Refuse("the weight has one dimension, not " + shape::Text(weight));
  if (weight.count() != 1) {
    if (self.rank() == 0) Refuse("a 0-dim tensor has no channels");
    shape::RequireEqual("channels and weights", self.rank() > 1 ? self.size(1) : 1, weight.count());
  }
  if (self.rank() == weight.rank()) {
    return {d.Call("aten::_prelu_kernel", d.tensor(op, 0), d.tensor(op, 1))};
  }
  Dims sizes = Dims::Filled(self.rank(), 1);
  if (self.rank() > 1) sizes[1] = weight.count();
  const Tensor spread = d.Call("aten::reshape", d.tensor(op, 1), sizes);
  return {d.Call("aten::_prelu_kernel", d.tensor(op, 0), spread)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kFullOnCuda, Elementwise({"aten::acos", "The inverse cosine.",
                                                 "(Tensor self) -> Tensor", "aten::acos(f32[2,8])"},
                                                FloatOfOne(gradients::kAcos))),
    Casting(precision::kFullOnCuda, Elementwise({"aten::asin", "The inverse sine.",
                                                 "(Tensor self) -> Tensor", "aten::asin(f32[2,8])"},
                                                FloatOfOne(gradients::kAsin))),
    Casting(precision::kFullOnCuda, Elementwise({"aten::sinh", "The hyperbolic sine.",
                                                 "(Tensor self) -> Tensor", "aten::sinh(f32[2,8])"},
                                                FloatOfOne(gradients::kSinh))),
    Casting(precision::kFullOnCuda, Elementwise({"aten::cosh", "The hyperbolic cosine.",
                                                 "(Tensor self) -> Tensor", "aten::cosh(i64[2,8])"},
                                                FloatOfOne(gradients::kCosh))),
    Elementwise({"aten::acosh", "The inverse hyperbolic cosine.", "(Tensor self) -> Tensor",
                 "aten::acosh(f32[2,8])"},
                FloatOfOne(gradients::kAcosh)),
    Elementwise({"aten::asinh", "The inverse hyperbolic sine.", "(Tensor self) -> Tensor",
                 "aten::asinh(f32[2,8])"},
                FloatOfOne(gradients::kAsinh)),
    Elementwise({"aten::atanh", "The inverse hyperbolic tangent.", "(Tensor self) -> Tensor",
                 "aten::atanh(f32[2,8])"},
                FloatOfOne(gradients::kAtanh)),
    Elementwise({"aten::sinc", "The sine of pi x over pi x.", "(Tensor self) -> Tensor",
                 "aten::sinc(f32[2,8])"},
                FloatOfOne(gradients::kSinc)),
    Elementwise({"aten::erfc", "One minus the error function.", "(Tensor self) -> Tensor",
                 "aten::erfc(f32[2,8])"},
                RealOfOne(gradients::kErfc)),
    Casting(precision::kFullOnCuda,
            Elementwise({"aten::erfinv", "The inverse error function.", "(Tensor self) -> Tensor",
                         "aten::erfinv(f32[2,8])"},
                        RealOfOne(gradients::kErfinv))),
    Elementwise({"aten::lgamma", "The logarithm of the gamma function.", "(Tensor self) -> Tensor",
                 "aten::lgamma(i64[2,8])"},
                RealOfOne(gradients::kLgamma)),
    Elementwise({"aten::digamma", "The derivative of lgamma.", "(Tensor self) -> Tensor",
                 "aten::digamma(f32[2,8])"},
                RealOfOne(gradients::kDigamma)),
    Elementwise({"aten::i0", "The modified Bessel function of order 0.", "(Tensor self) -> Tensor",
                 "aten::i0(f32[2,8])"},
                RealOfOne(gradients::kBessel)),
    Elementwise({"aten::polygamma", "A derivative of digamma.", "(int n, Tensor self) -> Tensor",
                 "aten::polygamma(1, f32[2,8])"},
                {.shape = PolygammaShape,
                 .fusion = Fusion::kElementwise,
                 .allocations = allocations::Iterate<Promotion::kFloat, 1>,
                 .work = kSpecial,
                 .grad = gradients::kPolygamma,
                 .precision = precision::kFollow}),
    Elementwise({"aten::special_i1", "The modified Bessel function of order 1.",
                 "(Tensor self) -> Tensor", "aten::special_i1(f32[2,8])"},
                RealOfOne(gradients::kBesselOne)),
    Elementwise({"aten::logit", "The logarithm of the odds.",
                 "(Tensor self, float? eps=None) -> Tensor", "aten::logit(f32[2,8], 1e-6)"},
                {.shape = LogitShape,
                 .fusion = Fusion::kElementwise,
                 .allocations = allocations::IterateByFactory<Promotion::kFloat, 0>,
                 .work = work::PerOutput<PerElement{.alu = 2, .special = 1}>,
                 .grad = gradients::kLogit,
                 .precision = precision::kFollow}),
    Elementwise({"aten::frac", "What is behind the point.", "(Tensor self) -> Tensor",
                 "aten::frac(f32[2,8])"},
                Rectifier(gradients::kFrac)),
    Elementwise({"aten::hardshrink", "Zero near zero.", "(Tensor self, Scalar lambd=0.5) -> Tensor",
                 "aten::hardshrink(f32[2,8])"},
                Rectifier(gradients::kHardshrink)),
    Elementwise({"aten::softshrink", "Towards zero by `lambd`.",
                 "(Tensor self, Scalar lambd=0.5) -> Tensor", "aten::softshrink(f32[2,8])"},
                Rectifier(gradients::kSoftshrink)),
    Elementwise({"aten::signbit", "Whether the sign is minus.", "(Tensor self) -> Tensor",
                 "aten::signbit(f32[2,8])"},
                kTest),
    Elementwise({"aten::isposinf", "Whether an element is infinite and positive.",
                 "(Tensor self) -> Tensor", "aten::isposinf(f32[2,8])"},
                kTest),
    Elementwise({"aten::nan_to_num", "Numbers for infinities and what is no number.",
                 "(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
                 "aten::nan_to_num(f32[2,8])"},
                kNumbersForNan),
    Call({"aten::isinf", "Whether an element is infinite.", "(Tensor self) -> Tensor",
          "aten::isinf(f32[2,8])"},
         IsInf, kNoGradient),
    Call({"aten::isfinite", "Whether an element is a number and not infinite.",
          "(Tensor self) -> Tensor", "aten::isfinite(f32[2,8])"},
         IsFinite),
    Overwriting({"aten::exp_", "e to the x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::exp_(f32[2,8])"},
                OverwriteFloat(gradients::kExp)),
    Overwriting({"aten::log_", "The natural logarithm, in place.",
                 "(Tensor(a!) self) -> Tensor(a!)", "aten::log_(f32[2,8])"},
                OverwriteFloat(gradients::kLog)),
    Overwriting({"aten::sqrt_", "The square root, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::sqrt_(f32[2,8])"},
                OverwriteFloat(gradients::kSqrt)),
    Overwriting({"aten::rsqrt_", "One over the square root, in place.",
                 "(Tensor(a!) self) -> Tensor(a!)", "aten::rsqrt_(f32[2,8])"},
                OverwriteFloat(gradients::kRsqrt)),
    Overwriting({"aten::sin_", "The sine, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::sin_(f32[2,8])"},
                OverwriteFloat(gradients::kSin)),
    Overwriting({"aten::cos_", "The cosine, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::cos_(f32[2,8])"},
                OverwriteFloat(gradients::kCos)),
    Overwriting({"aten::log1p_", "The logarithm of one plus x, in place.",
                 "(Tensor(a!) self) -> Tensor(a!)", "aten::log1p_(f32[2,8])"},
                OverwriteFloat(gradients::kLog1p)),
    Overwriting({"aten::reciprocal_", "One over x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::reciprocal_(f32[2,8])"},
                OverwriteFloat(gradients::kReciprocal)),
    Knowing(contents::Pointwise<segments::Negative, 1>,
            Overwriting({"aten::neg_", "Changes the sign, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::neg_(f32[2,8])"},
                        {.shape = OverwriteSignedShape,
                         .fusion = Fusion::kElementwise,
                         .allocations = allocations::None,
                         .work = kAlu,
                         .grad = gradients::kNeg,
                         .precision = precision::kFollow})),
    Overwriting({"aten::floor_", "Rounds down, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::floor_(f32[2,8])"},
                OverwriteReal(gradients::kFloor)),
    Overwriting({"aten::ceil_", "Rounds up, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::ceil_(f32[2,8])"},
                OverwriteReal(gradients::kCeil)),
    Overwriting({"aten::round_", "Rounds to even, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::round_(f32[2,8])"},
                OverwriteReal(gradients::kRound)),
    Call({"aten::square_", "x times x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
          "aten::square_(f32[2,8])"},
         OverwriteSquare),
    Elementwise({"aten::fmod.Tensor", "The remainder of a division rounded to zero.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::fmod.Tensor(f32[2,8], f32[8])"},
                RealOfTwo(gradients::kFmod)),
    Call({"aten::fmod.Scalar", "The remainder of a division by a number, rounded to zero.",
          "(Tensor self, Scalar other) -> Tensor", "aten::fmod.Scalar(f32[2,8], 3)"},
         decompose::BoxAndCall<"aten::fmod.Tensor", 1>, gradients::kFmodNumber),
    Elementwise({"aten::fmax", "The larger of two, where both are numbers.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::fmax(f32[2,8], f32[8])"},
                RealOfTwo(gradients::kFmax)),
    Elementwise({"aten::fmin", "The smaller of two, where both are numbers.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::fmin(f32[2,8], f32[8])"},
                RealOfTwo(gradients::kFmin)),
    Elementwise({"aten::hypot", "The length of a vector of two.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::hypot(f32[2,8], f32[8])"},
                FloatOfTwo(gradients::kHypot)),
    Elementwise({"aten::logaddexp", "The logarithm of the sum of two exponentials.",
                 "(Tensor self, Tensor other) -> Tensor", "aten::logaddexp(f32[2,8], f32[8])"},
                FloatOfTwo(gradients::kLogAddExp)),
    Elementwise({"aten::logaddexp2", "The same to base 2.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::logaddexp2(f32[2,8], f32[8])"},
                FloatOfTwo(gradients::kLogAddExp2)),
    Elementwise(
        {"aten::copysign.Tensor", "The first with the sign of the second.",
         "(Tensor self, Tensor other) -> Tensor", "aten::copysign.Tensor(i64[2,8], i64[8])"},
        kWithSign),
    Call({"aten::copysign.Scalar", "The tensor with the sign of a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::copysign.Scalar(f32[2,8], -1.0)"},
         decompose::BoxAndCall<"aten::copysign.Tensor", 1>, gradients::kCopysignNumber),
    Elementwise({"aten::heaviside", "A step at zero.", "(Tensor self, Tensor values) -> Tensor",
                 "aten::heaviside(f32[2,8], f32[8])"},
                kStep),
    Elementwise({"aten::bitwise_left_shift.Tensor", "Bits moved to the left.",
                 "(Tensor self, Tensor other) -> Tensor",
                 "aten::bitwise_left_shift.Tensor(i64[2,8], i32[8])"},
                kShift),
    Elementwise({"aten::bitwise_right_shift.Tensor", "Bits moved to the right.",
                 "(Tensor self, Tensor other) -> Tensor",
                 "aten::bitwise_right_shift.Tensor(i64[2,8], i32[8])"},
                kShift),
    Call({"aten::bitwise_left_shift.Tensor_Scalar", "Bits moved to the left by a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::bitwise_left_shift.Tensor_Scalar(i64[2,8], 2)"},
         decompose::BoxAndCall<"aten::bitwise_left_shift.Tensor", 1>, kNoGradient),
    Call({"aten::bitwise_right_shift.Tensor_Scalar", "Bits moved to the right by a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::bitwise_right_shift.Tensor_Scalar(u8[2,8], 4)"},
         decompose::BoxAndCall<"aten::bitwise_right_shift.Tensor", 1>, kNoGradient),
    Elementwise(
        {"aten::__lshift__.Tensor", "Bits moved to the left.",
         "(Tensor self, Tensor other) -> Tensor", "aten::__lshift__.Tensor(i64[2,8], i64[8])"},
        kShiftByFactory),
    Elementwise(
        {"aten::__rshift__.Tensor", "Bits moved to the right.",
         "(Tensor self, Tensor other) -> Tensor", "aten::__rshift__.Tensor(i64[2,8], i64[8])"},
        kShiftByFactory),
    Knowing(contents::Pointwise<segments::And>,
            Overwriting({"aten::bitwise_and_.Tensor", "Bits of both, in place.",
                         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                         "aten::bitwise_and_.Tensor(bool[2,8], bool[8])"},
                        kOverwriteBits)),
    Knowing(contents::Pointwise<segments::Or>,
            Overwriting({"aten::bitwise_or_.Tensor", "Bits of either, in place.",
                         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                         "aten::bitwise_or_.Tensor(bool[2,8], bool[8])"},
                        kOverwriteBits)),
    Call({"aten::__iand__.Tensor", "Bits of both, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__iand__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_and_.Tensor">),
    Call({"aten::__ior__.Tensor", "Bits of either, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__ior__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_or_.Tensor">),
    Call({"aten::bitwise_and.Scalar", "Bits of a tensor and a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_and.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_and.Tensor", 1>, kNoGradient),
    Call({"aten::bitwise_or.Scalar", "Bits of a tensor or a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_or.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_or.Tensor", 1>, kNoGradient),
    Call({"aten::bitwise_xor.Scalar", "Bits in which a tensor and a number differ.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_xor.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_xor.Tensor", 1>, kNoGradient),
    Call({"aten::__and__.Scalar", "Bits of a tensor and a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::__and__.Scalar(u8[2,8], 15)"},
         decompose::SameAs<"aten::bitwise_and.Scalar">),
    Elementwise({"aten::clamp.Tensor", "Limits to what two tensors say.",
                 "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                 "aten::clamp.Tensor(f32[2,8], f32[8], f32[8])"},
                kBounds),
    Elementwise({"aten::clamp_min.Tensor", "Limits from below to what a tensor says.",
                 "(Tensor self, Tensor min) -> Tensor", "aten::clamp_min.Tensor(f32[2,8], f32[8])"},
                Bound(gradients::kClampMinByTensor)),
    Elementwise({"aten::clamp_max.Tensor", "Limits from above to what a tensor says.",
                 "(Tensor self, Tensor max) -> Tensor", "aten::clamp_max.Tensor(f32[2,8], f32[8])"},
                Bound(gradients::kClampMaxByTensor)),
    Overwriting({"aten::clamp_min_.Tensor", "Limits from below to what a tensor says, in place.",
                 "(Tensor(a!) self, Tensor min) -> Tensor(a!)",
                 "aten::clamp_min_.Tensor(f32[2,8], f32[8])"},
                kOverwriteBound),
    Call({"aten::clip", "Limits to two numbers.",
          "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
          "aten::clip(f32[2,8], 0, 1)"},
         decompose::SameAs<"aten::clamp">),
    Call({"aten::true_divide.Tensor", "Divides.", "(Tensor self, Tensor other) -> Tensor",
          "aten::true_divide.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::div.Tensor">),
    Call({"aten::true_divide.Scalar", "Divides by a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::true_divide.Scalar(f32[2,8], 3)"},
         decompose::SameAs<"aten::div.Scalar">),
    Call({"aten::divide.Tensor", "Divides.", "(Tensor self, Tensor other) -> Tensor",
          "aten::divide.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::div.Tensor">),
    Call({"aten::divide.Scalar", "Divides by a number.", "(Tensor self, Scalar other) -> Tensor",
          "aten::divide.Scalar(f32[2,8], 3)"},
         decompose::SameAs<"aten::div.Scalar">),
    Call({"aten::subtract.Tensor", "Subtracts.",
          "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "aten::subtract.Tensor(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::sub.Tensor">),
    Call({"aten::negative", "Changes the sign.", "(Tensor self) -> Tensor",
          "aten::negative(f32[2,8])"},
         decompose::SameAs<"aten::neg">),
    Call({"aten::absolute", "The absolute value.", "(Tensor self) -> Tensor",
          "aten::absolute(f32[2,8])"},
         decompose::SameAs<"aten::abs">),
    Casting(
        precision::kPromoteOnCuda,
        Elementwise({"aten::addcmul", "Adds a product of two tensors and a number.",
                     "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                     "aten::addcmul(f32[2,8], f32[2,1], f32[8])"},
                    {.shape = shape::Iterate<Promotion::kCommon, 0, 1, 2>,
                     .fusion = Fusion::kBroadcast,
                     .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                     .work = kMultiplyAndAdd,
                     .grad = gradients::kAddcmul,
                     .precision = precision::kFollow})),
    Casting(
        precision::kPromoteOnCuda,
        Elementwise({"aten::addcdiv", "Adds a quotient of two tensors times a number.",
                     "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                     "aten::addcdiv(f32[2,8], f32[2,1], f32[8])"},
                    {.shape = QuotientShape,
                     .fusion = Fusion::kBroadcast,
                     .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                     .work = kMultiplyAndAdd,
                     .grad = gradients::kAddcdiv,
                     .precision = precision::kFollow})),
    Elementwise({"aten::lerp.Scalar", "Goes a part of the way to `end`.",
                 "(Tensor self, Tensor end, Scalar weight) -> Tensor",
                 "aten::lerp.Scalar(f32[2,8], f32[8], 0.1)"},
                {.shape = LerpShape,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::OutputsOnly,
                 .work = kMultiplyAndAdd,
                 .grad = gradients::kLerp,
                 .precision = precision::kFollow}),
    Elementwise({"aten::lerp.Tensor", "Goes parts of the way to `end`.",
                 "(Tensor self, Tensor end, Tensor weight) -> Tensor",
                 "aten::lerp.Tensor(f32[2,8], f32[8], f32[2,1])"},
                {.shape = LerpByTensorShape,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                 .work = kMultiplyAndAdd,
                 .grad = gradients::kLerpByTensor,
                 .precision = precision::kFollow}),
    Elementwise(
        {"aten::_prelu_kernel", "x, or the weight times x below zero.",
         "(Tensor self, Tensor weight) -> Tensor", "aten::_prelu_kernel(f32[2,3,8], f32[1,3,1])"},
        {.shape = PreluShape,
         .fusion = Fusion::kBroadcast,
         .allocations = allocations::Via<"aten::empty_strided">,
         .work = work::PerOutput<PerElement{.alu = 1, .compare = 1}>,
         .grad = gradients::kPrelu,
         .precision = precision::kFollow}),
    Elementwise({"aten::_prelu_kernel_backward", "The gradients of `_prelu_kernel`.",
                 "(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
                 "aten::_prelu_kernel_backward(f32[2,3,8], f32[2,3,8], f32[1,3,1])"},
                {.shape = PreluBackwardShape,
                 .fusion = Fusion::kBroadcast,
                 .allocations = allocations::OutputsOnly,
                 .work = work::PerOutput<PerElement{.alu = 1, .compare = 1}>,
                 .grad = kGradientUnknown,
                 .precision = precision::kFollow}),
    Casting(precision::kLow,
            Call({"aten::prelu", "x, or a channel's weight times x below zero.",
                  "(Tensor self, Tensor weight) -> Tensor", "aten::prelu(f32[2,3,8], f32[3])"},
                 Prelu)),
};

}  // namespace

std::span<const OpDef> Special() { return kRows; }

}  // namespace steelyard::ops
