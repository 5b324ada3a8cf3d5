// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/elementwise.h"

#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

DType SelfType(const Backward& b) { return b.op().self().dtype(); }

// A number that was boxed for the call has no gradient of its own.
DType OtherType(const Backward& b) { return b.op().tensor(1).dtype(); }

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
  if (exponent == 0.0)
    return d.Call("aten::zeros_like", b.op().self().defined() ? b.saved(0) : b.grad());
  const Tensor power = d.Call("aten::pow.Tensor_Scalar", b.saved(0), exponent - 1);
  const Tensor slope = d.Call("aten::mul.Scalar", power, exponent);
  return AsReal(d, SelfType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, slope)));
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
  const Tensor slope = d.Call("aten::mul.Scalar", bell, kTwoOverRootPi);
  return d.Call("aten::mul.Tensor", slope, b.grad());
}

Tensor Log(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, b.saved(0)));
}

Tensor Sin(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, d.Call("aten::cos", b.saved(0))));
}

// grad * -self.sin()
Tensor Cos(Dispatcher& d, const Backward& b) {
  const Tensor sine = d.Call("aten::sin", b.saved(0));
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, d.Call("aten::neg", sine)));
}

Tensor Abs(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), d.Call("aten::sign", b.saved(0)));
}

}  // namespace steelyard::gradients
