// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them. What a formula cannot give near zero is masked as PyTorch does it.

#include "ops/gradients/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace steelyard::gradients {
namespace {

constexpr std::int64_t kOne = 1;
constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

double EpsilonOf(DType dtype) {
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::epsilon();
  if (dtype == DType::kFloat16) return 0x1p-10;
  return dtype == DType::kBFloat16 ? 0x1p-7 : 0x1p-23;
}

// grad, or its negative, times exp((self - 1) * log(other) - other - lgamma(self))
Tensor TimesGammaDensity(Dispatcher& d, const Backward& b, bool negative) {
  const Tensor gamma = d.Call("aten::lgamma", b.saved(0));
  const Tensor logarithm = d.Call("aten::log", b.saved(1));
  const Tensor less = d.Call("aten::sub.Scalar", b.saved(0), kOne);
  const Tensor product = Times(d, less, logarithm);
  const Tensor first = d.Call("aten::sub.Tensor", product, b.saved(1));
  const Tensor exponent = d.Call("aten::sub.Tensor", first, gamma);
  const Tensor density = d.Call("aten::exp", exponent);
  return Times(d, negative ? d.Call("aten::neg", b.grad()) : b.grad(), density);
}

}  // namespace

// 2 / sqrt(pi) * exp(-(self ** 2)) * grad
Tensor Erf(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor minus = d.Call("aten::neg", square);
  const Tensor bell = d.Call("aten::exp", minus);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, kTwoOverRootPi);
  return d.Call("aten::mul.Tensor", derivative, b.grad());
}

// -2 / sqrt(pi) * exp(-(self ** 2)) * grad
Tensor Erfc(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor minus = d.Call("aten::neg", square);
  const Tensor bell = d.Call("aten::exp", minus);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, -kTwoOverRootPi);
  return Times(d, derivative, b.grad());
}

// sqrt(pi) / 2 * exp(erfinv(self) ** 2) * grad
Tensor Erfinv(Dispatcher& d, const Backward& b) {
  const Tensor inverse = d.Call("aten::erfinv", b.saved(0));
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", inverse, std::int64_t{2});
  const Tensor bell = d.Call("aten::exp", square);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, 0.5 * std::sqrt(std::numbers::pi));
  return Times(d, derivative, b.grad());
}

// (2 * self * result - 2 / sqrt(pi)) * grad
Tensor ScaledErfc(Dispatcher& d, const Backward& b) {
  const Tensor twice = d.Call("aten::mul.Scalar", b.saved(0), 2.0);
  const Tensor product = Times(d, twice, b.result());
  const Tensor derivative = d.Call("aten::sub.Scalar", product, kTwoOverRootPi);
  return Times(d, derivative, b.grad());
}

// grad * sqrt(2 / pi) / 2 * exp(-(result + self^2 / 2))
Tensor LogNormalDistribution(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor half = d.Call("aten::mul.Scalar", square, 0.5);
  const Tensor sum = d.Call("aten::add.Tensor", b.result(), half);
  const Tensor turned = d.Call("aten::neg", sum);
  const Tensor density = d.Call("aten::exp", turned);
  const Tensor scaled =
      d.Call("aten::mul.Scalar", b.grad(), kTwoOverRootPi * std::numbers::sqrt2 * 0.25);
  return Times(d, scaled, density);
}

// grad * sqrt(2 pi) * exp(result^2 / 2)
Tensor NormalQuantile(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::square", b.result());
  const Tensor half = d.Call("aten::mul.Scalar", square, 0.5);
  const Tensor density = d.Call("aten::exp", half);
  const Tensor scaled = d.Call("aten::mul.Scalar", b.grad(),
                               std::numbers::pi / 2 * std::numbers::sqrt2 * kTwoOverRootPi);
  return Times(d, scaled, density);
}

// grad * (-(1 + self.log()))
Tensor Entropy(Dispatcher& d, const Backward& b) {
  const Tensor logarithm = d.Call("aten::log", b.saved(0));
  const Tensor sum = d.Call("aten::add.Scalar", logarithm, kOne);
  const Tensor derivative = d.Call("aten::neg", sum);
  return Times(d, b.grad(), derivative);
}

// self, eps
Tensor LogitSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::logit_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor Lgamma(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::digamma", b.saved(0)));
}

Tensor Digamma(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::polygamma", kOne, b.saved(0)));
}

// n, self
Tensor PolygammaSelf(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::polygamma", b.op().integer(0) + 1, b.saved(1)));
}

Tensor GammaArguments(Dispatcher& d, const Tensor& self, std::int64_t p) {
  constexpr double kHalf = 0.5;
  const DType dtype = IsFloating(self.dtype()) ? self.dtype() : DType::kFloat32;
  const Tensor halves = d.Call("aten::arange.start_step", kHalf - kHalf * static_cast<double>(p),
                               kHalf, kHalf, dtype);
  return d.Call("aten::add.Tensor", halves, d.Call("aten::unsqueeze", self, -1));
}

// grad * the sum of digamma over the arguments
Tensor MultivariateGamma(Dispatcher& d, const Backward& b) {
  const Tensor arguments = GammaArguments(d, b.saved(0), b.op().integer(1));
  d.Call("aten::digamma_", arguments);
  return Times(d, b.grad(), d.Call("aten::sum.dim_IntList", arguments, Dims{-1}));
}

Tensor IncompleteGammaOther(Dispatcher& d, const Backward& b) {
  return TimesGammaDensity(d, b, false);
}

Tensor ComplementedGammaOther(Dispatcher& d, const Backward& b) {
  return TimesGammaDensity(d, b, true);
}

// grad * -self * zeta(self + 1, other)
Tensor ZetaOther(Dispatcher& d, const Backward& b) {
  const Tensor more = d.Call("aten::add.Scalar", b.saved(0), 1.0);
  const Tensor next = d.Call("aten::special_zeta", more, b.saved(1));
  const Tensor turned = d.Call("aten::neg", b.saved(0));
  const Tensor product = Times(d, b.grad(), turned);
  return Times(d, product, next);
}

Tensor Bessel(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::special_i1", b.saved(0)));
}

namespace {

// grad * (the function of order 0 - result / self), half of it near zero
Tensor OfOrderOne(Dispatcher& d, const Backward& b, OpName order_zero) {
  const Tensor self = b.saved(0);
  const double epsilon = EpsilonOf(self.dtype());
  const Tensor tiny = d.Call("aten::le.Scalar", d.Call("aten::abs", self), epsilon);
  const Tensor safe =
      d.Call("aten::where.self", tiny, d.Call("aten::scalar_tensor", epsilon, self.dtype()), self);
  Tensor inverse = d.Call("aten::reciprocal", safe);
  Tensor ratio = Times(d, b.result(), inverse);
  Tensor zeroth = d.Call(order_zero, safe);
  const Tensor derivative = d.Call("aten::sub.Tensor", zeroth, ratio);
  zeroth.reset();
  ratio.reset();
  inverse.reset();
  const Tensor half = d.Call("aten::scalar_tensor", 0.5, self.dtype());
  return Times(d, b.grad(), d.Call("aten::where.self", tiny, half, derivative));
}

// -grad times the function of order 1
Tensor OfOrderZero(Dispatcher& d, const Backward& b, OpName order_one) {
  const Tensor first = d.Call(order_one, b.saved(0));
  const Tensor negative = d.Call("aten::neg", first);
  return Times(d, b.grad(), negative);
}

}  // namespace

Tensor BesselOne(Dispatcher& d, const Backward& b) { return OfOrderOne(d, b, "aten::i0"); }
Tensor BesselJZero(Dispatcher& d, const Backward& b) {
  return OfOrderZero(d, b, "aten::special_bessel_j1");
}
Tensor BesselJOne(Dispatcher& d, const Backward& b) {
  return OfOrderOne(d, b, "aten::special_bessel_j0");
}
Tensor BesselYZero(Dispatcher& d, const Backward& b) {
  return OfOrderZero(d, b, "aten::special_bessel_y1");
}
// grad * (y0(self) - result / self), and infinite at zero (bessel_y1_backward)
Tensor BesselYOne(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0);
  const Tensor derivative = [&] {
    const Tensor inverse = d.Call("aten::reciprocal", self);
    const Tensor ratio = Times(d, b.result(), inverse);
    const Tensor zeroth = d.Call("aten::special_bessel_y0", self);
    return d.Call("aten::sub.Tensor", zeroth, ratio);
  }();
  const Tensor infinite =
      d.Call("aten::scalar_tensor", std::numeric_limits<double>::infinity(), self.dtype());
  const Tensor zero = d.Call("aten::eq.Scalar", self, std::int64_t{0});
  return Times(d, b.grad(), d.Call("aten::where.self", zero, infinite, derivative));
}

// grad * (i1e(self) - sgn(self) * result)
Tensor ScaledBessel(Dispatcher& d, const Backward& b) {
  const Tensor sign = d.Call("aten::sgn", b.saved(0));
  const Tensor product = Times(d, sign, b.result());
  const Tensor first = d.Call("aten::special_i1e", b.saved(0));
  const Tensor derivative = d.Call("aten::sub.Tensor", first, product);
  return Times(d, b.grad(), derivative);
}

// grad * (i0e(self) - result * (sgn(self) + 1 / self)), and half of it at zero (i1e_backward)
Tensor ScaledBesselOne(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0);
  const double epsilon = EpsilonOf(self.dtype());
  const Tensor tiny = d.Call("aten::le.Scalar", d.Call("aten::abs", self), epsilon);
  const Tensor safe =
      d.Call("aten::where.self", tiny, d.Call("aten::scalar_tensor", epsilon, self.dtype()), self);
  Tensor derivative;
  {
    const Tensor inverse = d.Call("aten::reciprocal", safe);
    const Tensor sign = d.Call("aten::sgn", safe);
    const Tensor sum = d.Call("aten::add.Tensor", sign, inverse);
    const Tensor product = Times(d, b.result(), sum);
    const Tensor zeroth = d.Call("aten::special_i0e", safe);
    derivative = d.Call("aten::sub.Tensor", zeroth, product);
  }
  const Tensor half = d.Call("aten::scalar_tensor", 0.5, self.dtype());
  return Times(d, b.grad(), d.Call("aten::where.self", tiny, half, derivative));
}

// xlogy(grad, other), 0 where self is 0 and other is not positive
Tensor XlogySelf(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::xlogy.Tensor", b.grad(), b.saved(1));
  const Tensor low = d.Call("aten::le.Scalar", b.saved(1), 0.0);
  const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), 0.0);
  const Tensor both = d.Call("aten::bitwise_and.Tensor", zero, low);
  return d.Call("aten::masked_fill.Scalar", derivative, both, 0.0);
}

// grad * self / other
Tensor XlogyOther(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mul.Tensor", b.grad(), b.saved(0));
  return d.Call("aten::div.Tensor", product, b.saved(1));
}

Tensor XlogyOfNumber(Dispatcher& d, const Backward& b) {
  Tensor derivative = d.Call("aten::xlogy.Scalar_Other", b.grad(), b.op().arg(1));
  if (b.op().real(1) > 0) return derivative;
  const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), 0.0);
  return d.Call("aten::masked_fill.Scalar", derivative, zero, 0.0);
}

// The same where one of them is a number.
Tensor XlogyByNumber(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mul.Scalar", b.grad(), b.op().arg(0));
  return d.Call("aten::div.Tensor", product, b.saved(1));
}

// xlog1py(grad, other), 0 where the product was 0 times infinity
Tensor Xlog1pySelf(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::special_xlog1py", b.grad(), b.saved(1));
  const Tensor outside = d.Call("aten::le.Scalar", b.saved(1), -1.0);
  const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), 0.0);
  const Tensor lost = d.Call("aten::bitwise_and.Tensor", zero, outside);
  return d.Call("aten::masked_fill.Scalar", derivative, lost, 0.0);
}

Tensor Xlog1pyOther(Dispatcher& d, const Backward& b) {
  const Tensor more = d.Call("aten::add.Scalar", b.saved(1), kOne);
  const Tensor product = Times(d, b.grad(), b.saved(0));
  return d.Call("aten::div.Tensor", product, more);
}

Tensor Xlog1pyOfNumber(Dispatcher& d, const Backward& b) {
  const Tensor more = d.Call("aten::add.Scalar", b.saved(1), kOne);
  const Tensor product = d.Call("aten::mul.Scalar", b.grad(), b.op().arg(0));
  return d.Call("aten::div.Tensor", product, more);
}

Tensor Xlog1pyByNumber(Dispatcher& d, const Backward& b) {
  Tensor derivative = d.Call("aten::special_xlog1py.other_scalar", b.grad(), b.op().arg(1));
  if (b.op().real(1) > -1) return derivative;
  const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), 0.0);
  return d.Call("aten::masked_fill.Scalar", derivative, zero, 0.0);
}

}  // namespace steelyard::gradients
