// SPDX-License-Identifier: Apache-2.0
//
// The functions of torch.special: of errors and distributions, gamma and zeta, Bessel, and products
// with a logarithm (ATen/native/UnaryOps.cpp, BinaryOps.cpp). What torch.special calls an
// elementary function stands in aliases.cc.

#include "ops/gradients/special_functions.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::Call;
using pointwise::kSpecial;
using pointwise::MathFunction;
using pointwise::RealBinary;
using pointwise::RealBinaryInPlace;
using pointwise::RealFunction;
using pointwise::RealFunctionInPlace;
using work::PerElement;

void PolygammaShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.tensor(1).dtype())) Refuse("it is not defined for complex numbers");
  if (op.integer(0) < 0) Refuse("a derivative of a negative order");
  shape::Iterate<Promotion::kFloat, 1>(op, out);
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
  d.Call("aten::add_.Scalar", sum, p * (p - 1) * std::log(std::numbers::pi) / 4);
  return {sum};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    MathFunction(
        {"aten::erf", "The error function.", "(Tensor self) -> Tensor", "aten::erf(f32[2,8])"},
        gradients::kErf),
    RealFunctionInPlace({"aten::erf_", "The error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erf_(f32[2,8])"},
                        gradients::kErf),
    RealFunction({"aten::erfc", "One minus the error function.", "(Tensor self) -> Tensor",
                  "aten::erfc(f32[2,8])"},
                 gradients::kErfc),
    RealFunctionInPlace({"aten::erfc_", "One minus the error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erfc_(f32[2,8])"},
                        gradients::kErfc),
    Casting(precision::kFullOnCuda,
            RealFunction({"aten::erfinv", "The inverse error function.", "(Tensor self) -> Tensor",
                          "aten::erfinv(f32[2,8])"},
                         gradients::kErfinv)),
    RealFunctionInPlace({"aten::erfinv_", "The inverse error function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::erfinv_(f32[2,8])"},
                        gradients::kErfinv),
    RealFunction({"aten::special_erfcx", "erfc, scaled by the exponential of x squared.",
                  "(Tensor self) -> Tensor", "aten::special_erfcx(f32[2,8])"},
                 gradients::kScaledErfc),
    Call({"aten::special_ndtr", "The normal distribution function.", "(Tensor self) -> Tensor",
          "aten::special_ndtr(f32[2,8])"},
         NormalDistribution),
    RealFunction({"aten::special_log_ndtr", "The logarithm of the normal distribution function.",
                  "(Tensor self) -> Tensor", "aten::special_log_ndtr(f32[2,8])"},
                 gradients::kLogNormalDistribution),
    RealFunction({"aten::special_ndtri", "The inverse of the normal distribution function.",
                  "(Tensor self) -> Tensor", "aten::special_ndtri(f32[2,8])"},
                 gradients::kNormalQuantile),
    RealFunction({"aten::special_entr", "The entropy -x log x.", "(Tensor self) -> Tensor",
                  "aten::special_entr(f32[2,8])"},
                 gradients::kEntropy),
    Kernel(Family::kElementwise,
           {"aten::logit", "The logarithm of the odds.", "(Tensor self, float? eps=None) -> Tensor",
            "aten::logit(f32[2,8], 1e-6)"},
           {.shape = pointwise::RealShape,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::IterateByFactory<Promotion::kFloat, 0>,
            .work = work::PerOutput<PerElement{.alu = 2, .special = 1}>,
            .grad = gradients::kLogit,
            .precision = precision::kFollow}),
    RealFunctionInPlace(
        {"aten::logit_", "The logarithm of the odds, in place.",
         "(Tensor(a!) self, float? eps=None) -> Tensor(a!)", "aten::logit_(f32[2,8], 1e-6)"},
        gradients::kLogit),
    RealFunction({"aten::lgamma", "The logarithm of the gamma function.", "(Tensor self) -> Tensor",
                  "aten::lgamma(i64[2,8])"},
                 gradients::kLgamma),
    RealFunctionInPlace({"aten::lgamma_", "The logarithm of the gamma function, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::lgamma_(f32[2,8])"},
                        gradients::kLgamma),
    RealFunction({"aten::digamma", "The derivative of lgamma.", "(Tensor self) -> Tensor",
                  "aten::digamma(f32[2,8])"},
                 gradients::kDigamma),
    RealFunctionInPlace({"aten::digamma_", "The derivative of lgamma, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::digamma_(f32[2,8])"},
                        gradients::kDigamma),
    Kernel(Family::kElementwise,
           {"aten::polygamma", "A derivative of digamma.", "(int n, Tensor self) -> Tensor",
            "aten::polygamma(1, f32[2,8])"},
           {.shape = PolygammaShape,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::Iterate<Promotion::kFloat, 1>,
            .work = kSpecial,
            .grad = gradients::kPolygamma,
            .precision = precision::kFollow}),
    Call({"aten::special_polygamma", "A derivative of digamma.", "(int n, Tensor self) -> Tensor",
          "aten::special_polygamma(1, f32[2,8])"},
         decompose::SameAs<"aten::polygamma">),
    Call({"aten::mvlgamma", "The logarithm of the gamma function of `p` dimensions.",
          "(Tensor self, int p) -> Tensor", "aten::mvlgamma(f32[2,8], 2)"},
         MultivariateGamma, gradients::kMultivariateGamma),
    Call({"aten::special_multigammaln", "The logarithm of the gamma function of `p` dimensions.",
          "(Tensor self, int p) -> Tensor", "aten::special_multigammaln(f32[2,8], 2)"},
         decompose::SameAs<"aten::mvlgamma">),
    RealBinary<Promotion::kCommon>(
        {"aten::igamma", "The lower incomplete gamma function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::igamma(f32[2,8], f32[8])"},
        gradients::kIncompleteGamma, kSpecial),
    RealBinary<Promotion::kCommon>(
        {"aten::igammac", "The upper incomplete gamma function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::igammac(f32[2,8], f32[8])"},
        gradients::kComplementedGamma, kSpecial),
    Call({"aten::special_gammainc", "The lower incomplete gamma function.",
          "(Tensor self, Tensor other) -> Tensor", "aten::special_gammainc(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::igamma">),
    Call({"aten::special_gammaincc", "The upper incomplete gamma function.",
          "(Tensor self, Tensor other) -> Tensor", "aten::special_gammaincc(f32[2,8], f32[8])"},
         decompose::SameAs<"aten::igammac">),
    RealBinary<Promotion::kFloat>(
        {"aten::special_zeta", "The Hurwitz zeta function.",
         "(Tensor self, Tensor other) -> Tensor", "aten::special_zeta(f32[2,8], f32[8])"},
        gradients::kZeta, kSpecial),
    RealFunction({"aten::i0", "The modified Bessel function of order 0.", "(Tensor self) -> Tensor",
                  "aten::i0(f32[2,8])"},
                 gradients::kBessel),
    RealFunctionInPlace({"aten::i0_", "The modified Bessel function of order 0, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::i0_(f32[2,8])"},
                        gradients::kBessel),
    RealFunction({"aten::special_i0e", "The modified Bessel function of order 0, scaled.",
                  "(Tensor self) -> Tensor", "aten::special_i0e(f32[2,8])"},
                 gradients::kScaledBessel),
    RealFunction({"aten::special_i1", "The modified Bessel function of order 1.",
                  "(Tensor self) -> Tensor", "aten::special_i1(f32[2,8])"},
                 gradients::kBesselOne),
    RealFunction({"aten::special_i1e", "The modified Bessel function of order 1, scaled.",
                  "(Tensor self) -> Tensor", "aten::special_i1e(f32[2,8])"},
                 gradients::kScaledBesselOne),
    RealFunction({"aten::special_bessel_j0", "The Bessel function of order 0.",
                  "(Tensor self) -> Tensor", "aten::special_bessel_j0(f32[2,8])"},
                 gradients::kBesselJZero),
    RealFunction({"aten::special_bessel_j1", "The Bessel function of order 1.",
                  "(Tensor self) -> Tensor", "aten::special_bessel_j1(f32[2,8])"},
                 gradients::kBesselJOne),
    RealFunction({"aten::special_bessel_y0", "The Bessel function of the second kind of order 0.",
                  "(Tensor self) -> Tensor", "aten::special_bessel_y0(f32[2,8])"},
                 gradients::kBesselYZero),
    RealFunction({"aten::special_bessel_y1", "The Bessel function of the second kind of order 1.",
                  "(Tensor self) -> Tensor", "aten::special_bessel_y1(f32[2,8])"},
                 gradients::kBesselYOne),
    RealFunction({"aten::special_airy_ai", "The Airy function.", "(Tensor x) -> Tensor",
                  "aten::special_airy_ai(f32[2,8])"},
                 kNoGradient),
    Binary<Promotion::kFloat>(
        {"aten::xlogy.Tensor", "Products with a logarithm.",
         "(Tensor self, Tensor other) -> Tensor", "aten::xlogy.Tensor(f32[2,8], f32[8])"},
        gradients::kXlogy, work::PerOutput<PerElement{.alu = 1, .special = 1}>),
    RealBinaryInPlace<Promotion::kFloat>(
        {"aten::xlogy_.Tensor", "x times the logarithm of y, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::xlogy_.Tensor(f32[2,8], f32[8])"},
        gradients::kXlogy),
    Call({"aten::xlogy.Scalar_Other", "Products with a number's logarithm.",
          "(Tensor self, Scalar other) -> Tensor", "aten::xlogy.Scalar_Other(f32[2,8], 2)"},
         decompose::BoxAndCall<"aten::xlogy.Tensor", 1>, gradients::kXlogyOfNumber),
    Call(
        {"aten::xlogy_.Scalar_Other", "x times the logarithm of a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::xlogy_.Scalar_Other(f32[2,8], 2)"},
        decompose::BoxAndCall<"aten::xlogy_.Tensor", 1>, gradients::kXlogyOfNumber),
    Call({"aten::xlogy.Scalar_Self", "A number times logarithms.",
          "(Scalar self, Tensor other) -> Tensor", "aten::xlogy.Scalar_Self(2, f32[2,8])"},
         decompose::BoxAndCall<"aten::xlogy.Tensor", 0>, gradients::kXlogyByNumber),
    RealBinary<Promotion::kFloat>(
        {"aten::special_xlog1py", "x times the logarithm of 1 + y.",
         "(Tensor self, Tensor other) -> Tensor", "aten::special_xlog1py(f32[2,8], f32[8])"},
        gradients::kXlog1py, kSpecial),
    Call({"aten::special_xlog1py.other_scalar", "x times the logarithm of 1 + a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::special_xlog1py.other_scalar(f32[2,8], 2)"},
         decompose::BoxAndCall<"aten::special_xlog1py", 1>, gradients::kXlog1pyByNumber),
    Call(
        {"aten::special_xlog1py.self_scalar", "A number times the logarithm of 1 + y.",
         "(Scalar self, Tensor other) -> Tensor", "aten::special_xlog1py.self_scalar(2, f32[2,8])"},
        decompose::BoxAndCall<"aten::special_xlog1py", 0>, gradients::kXlog1pyOfNumber),
};

}  // namespace

std::span<const OpDef> SpecialFunctions() { return kRows; }

}  // namespace steelyard::ops
