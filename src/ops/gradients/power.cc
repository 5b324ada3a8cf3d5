// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them.

#include "ops/gradients/power.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace steelyard::gradients {

// grad * (exponent * self.pow(exponent - 1)), nothing for an exponent of 0 (pow_backward)
Tensor Pow(Dispatcher& d, const Backward& b) {
  const std::complex<double> exponent = ComplexOf(b.op(), 1);
  if (exponent == 0.0) return RowMajorZeros(d, b.saved(0));
  const auto argument = [&](std::complex<double> number) {
    const bool is_complex = b.op().arg(1).kind == ArgKind::kComplex;
    return is_complex ? ComplexNumber(d, number) : Argument::OfFloat(number.real());
  };
  const Tensor power = d.Call("aten::pow.Tensor_Scalar", b.saved(0), argument(exponent - 1.0));
  const Tensor derivative = d.Call("aten::mul.Scalar", power, argument(exponent));
  return AsReal(d, SelfType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
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
  const std::complex<double> base = ComplexOf(b.op(), 0);
  const Argument logarithm = b.op().arg(0).kind == ArgKind::kComplex
                                 ? ComplexNumber(d, std::log(base))
                                 : Argument::OfFloat(std::log(base.real()));
  const Tensor derivative = d.Call("aten::mul.Scalar", b.result(), logarithm);
  if (base != 0.0) {
    return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative)));
  }
  const Tensor zero = d.Call("aten::zeros", Dims(), b.grad().dtype());
  const Tensor positive = d.Call("aten::ge.Scalar", b.saved(1), std::int64_t{0});
  const Tensor chosen = d.Call("aten::where.self", positive, zero, Conjugate(d, derivative));
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), chosen));
}

// grad * 2^other
Tensor LdexpSelf(Dispatcher& d, const Backward& b) {
  const Tensor power = d.Call("aten::pow.Scalar", Argument::OfFloat(2.0), b.saved(1));
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, power));
}

// grad * result * ln 2
Tensor LdexpOther(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.result()));
  return d.Call("aten::mul.Scalar", product, std::numbers::ln2);
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

}  // namespace steelyard::gradients
