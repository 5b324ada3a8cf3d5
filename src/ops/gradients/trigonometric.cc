// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them. What a formula cannot give, as that of sinc at 0, is masked as PyTorch does it.

#include "ops/gradients/trigonometric.h"

#include <numbers>

namespace steelyard::gradients {
namespace {

constexpr std::int64_t kOne = 1;
constexpr double kDegree = std::numbers::pi / 180;

}  // namespace

Tensor Sin(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, d.Call("aten::cos", b.saved(0))));
}

// grad * -self.sin().conj()
Tensor Cos(Dispatcher& d, const Backward& b) {
  const Tensor sine = Conjugate(d, d.Call("aten::sin", b.saved(0)));
  return d.Call("aten::mul.Tensor", b.grad(), d.Call("aten::neg", sine));
}

// grad * (1 + result.pow(2))
Tensor Tan(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.result(), std::int64_t{2});
  const Tensor derivative = d.Call("aten::add.Scalar", square, std::int64_t{1});
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, derivative));
}

Tensor Asin(Dispatcher& d, const Backward& b) {
  const Tensor minus = d.Call("aten::neg", b.saved(0));
  const Tensor square = Times(d, minus, b.saved(0));
  const Tensor rest = d.Call("aten::add.Scalar", square, kOne);
  const Tensor root = d.Call("aten::rsqrt", rest);
  return Times(d, b.grad(), Conjugate(d, root));
}

// grad * -((1 - self * self).rsqrt().conj())
Tensor Acos(Dispatcher& d, const Backward& b) {
  const Tensor minus = d.Call("aten::neg", b.saved(0));
  const Tensor square = Times(d, minus, b.saved(0));
  const Tensor rest = d.Call("aten::add.Scalar", square, kOne);
  const Tensor root = d.Call("aten::rsqrt", rest);
  return Times(d, b.grad(), d.Call("aten::neg", Conjugate(d, root)));
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

Tensor Sinh(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, d.Call("aten::cosh", b.saved(0))));
}

Tensor Cosh(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, d.Call("aten::sinh", b.saved(0))));
}

// grad * (self ** 2 + 1).rsqrt()
Tensor Asinh(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor more = d.Call("aten::add.Scalar", square, kOne);
  const Tensor derivative = d.Call("aten::rsqrt", more);
  return Times(d, b.grad(), Conjugate(d, derivative));
}

// grad * (self * self - 1).rsqrt(), or grad * ((self + 1).rsqrt() * (self - 1).rsqrt()).conj()
Tensor Acosh(Dispatcher& d, const Backward& b) {
  if (IsComplex(b.saved(0).dtype())) {
    const Tensor below = d.Call("aten::sub.Scalar", b.saved(0), kOne);
    const Tensor right = d.Call("aten::rsqrt", below);
    const Tensor above = d.Call("aten::add.Scalar", b.saved(0), kOne);
    const Tensor left = d.Call("aten::rsqrt", above);
    return Times(d, b.grad(), Conjugate(d, Times(d, left, right)));
  }
  const Tensor square = Times(d, b.saved(0), b.saved(0));
  const Tensor less = d.Call("aten::sub.Scalar", square, kOne);
  const Tensor derivative = d.Call("aten::rsqrt", less);
  return Times(d, b.grad(), Conjugate(d, derivative));
}

// grad * 1 / (1 - self ** 2)
Tensor Atanh(Dispatcher& d, const Backward& b) {
  const Tensor square = d.Call("aten::pow.Tensor_Scalar", b.saved(0), std::int64_t{2});
  const Tensor rest = OneMinus(d, square);
  const Tensor same = d.Call("aten::mul.Scalar", b.grad(), kOne);
  return d.Call("aten::div.Tensor", same, Conjugate(d, rest));
}

// grad * ((pi x cos(pi x) - sin(pi x)) / (pi x x)), 0 at 0 (sinc_backward)
Tensor Sinc(Dispatcher& d, const Backward& b) {
  const Tensor scaled = d.Call("aten::mul.Scalar", b.saved(0), std::numbers::pi);
  Tensor square = Times(d, b.saved(0), b.saved(0));
  const Tensor scaled_square = d.Call("aten::mul.Scalar", square, std::numbers::pi);
  square.reset();
  Tensor sine = d.Call("aten::sin", scaled);
  Tensor cosine = d.Call("aten::cos", scaled);
  Tensor product = Times(d, scaled, cosine);
  Tensor difference = d.Call("aten::sub.Tensor", product, sine);
  Tensor derivative = d.Call("aten::div.Tensor", difference, scaled_square);
  const Tensor out = Times(d, b.grad(), Conjugate(d, derivative));
  for (Tensor* t : {&derivative, &difference, &product, &cosine, &sine}) t->reset();
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor at_zero = d.Call("aten::eq.Scalar", scaled_square, 0.0);
  return d.Call("aten::where.self", at_zero, zero, out);
}

Tensor HypotSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", Times(d, b.grad(), b.saved(0)), b.result());
}

Tensor HypotOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", Times(d, b.grad(), b.saved(1)), b.result());
}

Tensor ByDegree(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), kDegree);
}
Tensor ByRadian(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), 1 / kDegree);
}

}  // namespace steelyard::gradients
