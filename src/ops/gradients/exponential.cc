// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them.

#include "ops/gradients/exponential.h"

#include <numbers>

namespace steelyard::gradients {
namespace {

constexpr std::int64_t kOne = 1;
constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;

// grad / (1 + base ** (power - of))
Tensor ShareOfSum(Dispatcher& d, const Backward& b, const Tensor& power, const Tensor& of,
                  bool natural) {
  const Tensor difference = d.Call("aten::sub.Tensor", power, of);
  const Tensor ratio = natural ? d.Call("aten::exp", difference)
                               : d.Call("aten::pow.Scalar", std::int64_t{2}, difference);
  const Tensor sum = d.Call("aten::add.Scalar", ratio, kOne);
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, sum));
}

}  // namespace

Tensor TimesResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.result()));
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

Tensor Log(Dispatcher& d, const Backward& b) {
  return d.Call("aten::div.Tensor", b.grad(), Conjugate(d, b.saved(0)));
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

Tensor LogAddExpSelf(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(1), b.saved(0), true);
}

Tensor LogAddExpOther(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(0), b.saved(1), true);
}

Tensor LogAddExp2Self(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(1), b.saved(0), false);
}

Tensor LogAddExp2Other(Dispatcher& d, const Backward& b) {
  return ShareOfSum(d, b, b.saved(0), b.saved(1), false);
}

}  // namespace steelyard::gradients
