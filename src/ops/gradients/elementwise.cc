// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp, operator by operator: temporaries live as
// long as in C++, and are made in the order in which it evaluates operands, since the peak of a
// backward pass is made of them. Where two operands are equal, each has half of an extreme's
// gradient.

#include "ops/gradients/elementwise.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

DType SelfType(const Backward& b) { return b.op().self().dtype(); }

// A number that was boxed for the call has no gradient of its own.
DType OtherType(const Backward& b) { return b.op().tensor(1).dtype(); }

constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;

// The gradient where the condition holds, half of it where both operands are equal, 0 where
// `lost` holds.
Tensor ShareOfExtreme(Dispatcher& d, const Backward& b, OpName lost) {
  const Tensor self = b.saved(0), other = b.saved(1);
  const Tensor none = d.Call(lost, self, other);
  const Tensor half = d.Call("aten::div.Scalar", b.grad(), std::int64_t{2});
  const Tensor equal = d.Call("aten::eq.Tensor", self, other);
  const Tensor share = d.Call("aten::where.self", equal, half, b.grad());
  return d.Call("aten::masked_fill_.Scalar", share, none, std::int64_t{0});
}

Tensor ZerosOf(Dispatcher& d, const Backward& b, DType dtype) {
  return d.Call("aten::zeros_like", b.grad(), dtype);
}

}  // namespace

// self, other, alpha
Tensor AddSelf(Dispatcher& d, const Backward& b) { return AsReal(d, SelfType(b), b.grad()); }
Tensor AddOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b), MaybeMultiply(d, b.grad(), b.op().real(2, 1.0)));
}
Tensor SubOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b),
                MaybeMultiply(d, d.Call("aten::neg", b.grad()), b.op().real(2, 1.0)));
}
Tensor RsubOther(Dispatcher& d, const Backward& b) { return AsReal(d, OtherType(b), b.grad()); }
Tensor RsubSelf(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b),
                MaybeMultiply(d, d.Call("aten::neg", b.grad()), b.op().real(2, 1.0)));
}

Tensor MulSelf(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(1))));
}
Tensor MulOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(0))));
}

Tensor DivSelf(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::div.Tensor", b.grad(), Conjugate(d, b.saved(1))));
}
// -grad * ((self / other) / other)
Tensor DivOther(Dispatcher& d, const Backward& b) {
  const Tensor other = b.saved(1);
  const Tensor once = d.Call("aten::div.Tensor", b.saved(0), other);
  const Tensor twice = d.Call("aten::div.Tensor", once, other);
  const Tensor minus = d.Call("aten::neg", b.grad());
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", minus, Conjugate(d, twice)));
}

Tensor MulNumber(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::mul.Scalar", b.grad(), b.op().arg(1)));
}
Tensor DivNumber(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::div.Scalar", b.grad(), b.op().arg(1)));
}

// grad * (exponent * self.pow(exponent - 1)), nothing for an exponent of 0 (pow_backward)
Tensor Pow(Dispatcher& d, const Backward& b) {
  const double exponent = b.op().real(1);
  if (exponent == 0.0) return RowMajorZeros(d, b.saved(0));
  const Tensor power = d.Call("aten::pow.Tensor_Scalar", b.saved(0), exponent - 1);
  const Tensor derivative = d.Call("aten::mul.Scalar", power, exponent);
  return AsReal(d, SelfType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
}

Tensor TimesResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.result()));
}

// grad / (2 * result)
Tensor Sqrt(Dispatcher& d, const Backward& b) {
  const Tensor twice = d.Call("aten::mul.Scalar", Conjugate(d, b.result()), std::int64_t{2});
  return d.Call("aten::div.Tensor", b.grad(), twice);
}

// -0.5 * grad * result.pow(3): the right operand first
Tensor Rsqrt(Dispatcher& d, const Backward& b) {
  const Tensor cube = Conjugate(d, d.Call("aten::pow.Tensor_Scalar", b.result(), std::int64_t{3}));
  const Tensor half = d.Call("aten::mul.Scalar", b.grad(), -0.5);
  return d.Call("aten::mul.Tensor", half, cube);
}

// -grad * (result * result)
Tensor Reciprocal(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::mul.Tensor", b.result(), b.result());
  const Tensor minus = d.Call("aten::neg", b.grad());
  return d.Call("aten::mul.Tensor", minus, Conjugate(d, square));
}

// 2 / sqrt(pi) * exp(-(self ** 2)) * grad
Tensor Erf(Dispatcher& d, const Backward& b) {
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor minus = d.Call("aten::neg", square);
  const Tensor bell = d.Call("aten::exp", minus);
  const Tensor derivative = d.Call("aten::mul.Scalar", bell, kTwoOverRootPi);
  return d.Call("aten::mul.Tensor", derivative, b.grad());
}

Tensor Log(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, b.saved(0)));
}

Tensor Sin(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, d.Call("aten::cos", b.saved(0))));
}

// grad * -self.sin().conj()
Tensor Cos(Dispatcher& d, const Backward& b) {
  const Tensor sine = Conjugate(d, d.Call("aten::sin", b.saved(0)));
  return d.Call("aten::mul.Tensor", b.grad(), d.Call("aten::neg", sine));
}

Tensor Abs(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), d.Call("aten::sgn", b.saved(0)));
}

// self, eps
Tensor LogitSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::logit_backward", b.grad(), b.saved(0), b.op().arg(1));
}

// grad * result * ln(2)
Tensor Exp2(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.result()));
  return d.Call("aten::mul.Scalar", product, kLn2);
}

// grad * (result + 1)
Tensor Expm1(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::add.Scalar", Conjugate(d, b.result()), std::int64_t{1});
  return d.Call("aten::mul.Tensor", b.grad(), derivative);
}

// grad / (self * ln(2))
Tensor Log2(Dispatcher& d, const Backward& b) {
  const Tensor scaled = d.Call("aten::mul.Scalar", Conjugate(d, b.saved(0)), kLn2);
  return d.Call("aten::div.Tensor", b.grad(), scaled);
}
Tensor Log10(Dispatcher& d, const Backward& b) {
  const Tensor scaled = d.Call("aten::mul.Scalar", Conjugate(d, b.saved(0)), kLn10);
  return d.Call("aten::div.Tensor", b.grad(), scaled);
}

// grad / (self + 1)
Tensor Log1p(Dispatcher& d, const Backward& b) {
  const Tensor more = d.Call("aten::add.Scalar", b.saved(0), std::int64_t{1});
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, more));
}

// grad * (1 + result.pow(2))
Tensor Tan(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.result(), std::int64_t{2});
  const Tensor derivative = d.Call("aten::add.Scalar", square, std::int64_t{1});
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative));
}

// grad / (self * self + 1)
Tensor Atan(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::mul.Tensor", b.saved(0), b.saved(0));
  const Tensor derivative = d.Call("aten::add.Scalar", square, std::int64_t{1});
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, derivative));
}

// grad * other / norm and grad * -self / norm, norm being self * self + other * other
std::vector<Tensor> Atan2(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0), other = b.saved(1);
  Tensor squared = d.Call("aten::mul.Tensor", other, other);
  Tensor own = d.Call("aten::mul.Tensor", self, self);
  const Tensor norm = d.Call("aten::add.Tensor", own, squared);
  own.reset();
  squared.reset();
  const Tensor inverse = d.Call("aten::reciprocal", norm);
  Tensor none = d.Call("aten::eq.Scalar", norm, std::int64_t{0});
  d.Call("aten::masked_fill_.Scalar", inverse, none, std::int64_t{0});
  none.reset();
  std::vector<Tensor> out(2);
  Tensor of_self, minus, of_other;
  if (b.needs(0)) {
    of_self = d.Call("aten::mul.Tensor", b.grad(), other);
    out[0] = d.Call("aten::mul.Tensor", of_self, inverse);
  }
  if (b.needs(1)) {
    minus = d.Call("aten::neg", self);
    of_other = d.Call("aten::mul.Tensor", b.grad(), minus);
    out[1] = d.Call("aten::mul.Tensor", of_other, inverse);
  }
  return out;
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
// The same where one of them is a number.
Tensor XlogyByNumber(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mul.Scalar", b.grad(), b.op().arg(0));
  return d.Call("aten::div.Tensor", product, b.saved(1));
}
Tensor XlogyOfNumber(Dispatcher& d, const Backward& b) {
  Tensor derivative = d.Call("aten::xlogy.Scalar_Other", b.grad(), b.op().arg(1));
  if (b.op().real(1) > 0) return derivative;
  const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), 0.0);
  return d.Call("aten::masked_fill.Scalar", derivative, zero, 0.0);
}

// grad * (exponent * self.pow(exponent - 1)), 0 where the exponent is (pow_backward_self)
Tensor PowBase(Dispatcher& d, const Backward& b) {
  const Tensor exponent = b.saved(1);
  const Tensor less = d.Call("aten::sub.Scalar", exponent, std::int64_t{1});
  const Tensor power = d.Call("aten::pow.Tensor_Tensor", b.saved(0), less);
  const Tensor derivative = d.Call("aten::mul.Tensor", exponent, power);
  const Tensor product = d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative));
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor constant = d.Call("aten::eq.Scalar", exponent, 0.0);
  return AsReal(d, SelfType(b), d.Call("aten::where.self", constant, zero, product));
}

// grad * (result * self.log()), 0 for a base of 0 and an exponent that is not negative
// (pow_backward_exponent)
Tensor PowExponent(Dispatcher& d, const Backward& b) {
  Tensor positive = d.Call("aten::ge.Scalar", b.saved(1), std::int64_t{0});
  Tensor zero_base = d.Call("aten::eq.Scalar", b.saved(0), std::int64_t{0});
  const Tensor none = d.Call("aten::logical_and", zero_base, positive);
  zero_base.reset();
  positive.reset();
  const Tensor base = d.Call("aten::to.dtype", b.saved(0), b.op().output().dtype());
  const Tensor logarithm = d.Call("aten::log", base);
  const Tensor derivative = d.Call("aten::mul.Tensor", b.result(), logarithm);
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor chosen = d.Call("aten::where.self", none, zero, Conjugate(d, derivative));
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), chosen));
}

// self, exponent: grad * (result * log(self))
Tensor PowOfNumber(Dispatcher& d, const Backward& b) {
  const double base = b.op().real(0);
  const Tensor derivative = d.Call("aten::mul.Scalar", b.result(), std::log(base));
  if (base != 0.0) {
    return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
  }
  const Tensor zero = d.Call("aten::zeros", Dims(), b.grad().dtype());
  const Tensor positive = d.Call("aten::ge.Scalar", b.saved(1), std::int64_t{0});
  const Tensor chosen = d.Call("aten::where.self", positive, zero, Conjugate(d, derivative));
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), chosen));
}

// self, other, rounding_mode: a rounded quotient is a step function
Tensor RoundedDivSelf(Dispatcher& d, const Backward& b) {
  return b.op().given(2) ? ZerosOf(d, b, SelfType(b)) : DivSelf(d, b);
}
Tensor RoundedDivOther(Dispatcher& d, const Backward& b) {
  return b.op().given(2) ? ZerosOf(d, b, OtherType(b)) : DivOther(d, b);
}
Tensor RoundedDivNumber(Dispatcher& d, const Backward& b) {
  return b.op().given(2) ? ZerosOf(d, b, SelfType(b)) : DivNumber(d, b);
}

// -grad * floor(self / other)
Tensor RemainderOther(Dispatcher& d, const Backward& b) {
  const Tensor times = d.Call("aten::div.Tensor_mode", b.saved(0), b.saved(1), d.Text("floor"));
  const Tensor minus = d.Call("aten::neg", b.grad());
  return d.Call("aten::mul.Tensor", minus, times);
}

// self, min, max: the gradient where neither is exceeded
Tensor Clamp(Dispatcher& d, const Backward& b) {
  const Argument minimum = b.op().arg(1), maximum = b.op().arg(2);
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  Tensor inside, below;
  if (b.op().given(1)) inside = d.Call("aten::gt.Scalar", b.saved(0), minimum);
  if (b.op().given(2)) below = d.Call("aten::lt.Scalar", b.saved(0), maximum);
  if (inside.defined() && below.defined()) inside = d.Call("aten::logical_and_", inside, below);
  if (!inside.defined()) inside = std::move(below);
  return d.Call("aten::where.self", inside, b.grad(), zero);
}
Tensor ClampMin(Dispatcher& d, const Backward& b) {
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor inside = d.Call("aten::gt.Scalar", b.saved(0), b.op().arg(1));
  return d.Call("aten::where.self", inside, b.grad(), zero);
}
Tensor ClampMax(Dispatcher& d, const Backward& b) {
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor inside = d.Call("aten::lt.Scalar", b.saved(0), b.op().arg(1));
  return d.Call("aten::where.self", inside, b.grad(), zero);
}

Tensor WhereLess(Dispatcher& d, const Backward& b) {
  return ShareOfExtreme(d, b, "aten::lt.Tensor");
}
Tensor WhereGreater(Dispatcher& d, const Backward& b) {
  return ShareOfExtreme(d, b, "aten::gt.Tensor");
}

// self, end, weight
Tensor LerpSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), 1.0 - b.op().real(2));
}
Tensor LerpEnd(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), b.op().arg(2));
}

// self, tensor1, tensor2, value: grad * (tensor2 * value)
Tensor AddcmulFirst(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::mul.Scalar", b.saved(2), b.op().arg(3));
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
}
Tensor AddcmulSecond(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::mul.Scalar", b.saved(1), b.op().arg(3));
  return AsReal(d, b.op().tensor(2).dtype(),
                d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
}

// grad * (value / tensor2)
Tensor AddcdivFirst(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::empty_like", b.saved(2));
  d.Call("aten::fill_.Scalar", derivative, b.op().arg(3));
  d.Call("aten::div_.Tensor", derivative, b.saved(2));
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
}
// -grad * (value * tensor1 / (tensor2 * tensor2))
Tensor AddcdivSecond(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::mul.Tensor", b.saved(2), b.saved(2));
  const Tensor scaled = d.Call("aten::mul.Scalar", b.saved(1), b.op().arg(3));
  const Tensor derivative = d.Call("aten::div.Tensor", scaled, square);
  const Tensor minus = d.Call("aten::neg", b.grad());
  return AsReal(d, b.op().tensor(2).dtype(),
                d.Call("aten::mul.Tensor", minus, Conjugate(d, derivative)));
}

}  // namespace steelyard::gradients
