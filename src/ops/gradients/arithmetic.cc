// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them.

#include "ops/gradients/arithmetic.h"

namespace steelyard::gradients {
namespace {

Tensor ZerosOf(Dispatcher& d, const Backward& b, DType dtype) {
  return d.Call("aten::zeros_like", b.grad(), dtype);
}

}  // namespace

// self, other, alpha
Tensor AddSelf(Dispatcher& d, const Backward& b) { return AsReal(d, SelfType(b), b.grad()); }

Tensor AddOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b), MaybeMultiply(d, b.grad(), Factor(d, b, 2)));
}

Tensor SubOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b), MaybeMultiply(d, d.Call("aten::neg", b.grad()), Factor(d, b, 2)));
}

Tensor RsubSelf(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), MaybeMultiply(d, d.Call("aten::neg", b.grad()), Factor(d, b, 2)));
}

Tensor RsubOther(Dispatcher& d, const Backward& b) { return AsReal(d, OtherType(b), b.grad()); }

Tensor MulSelf(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(1))));
}

Tensor MulOther(Dispatcher& d, const Backward& b) {
  return AsReal(d, OtherType(b), d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(0))));
}

Tensor MulNumber(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::mul.Scalar", b.grad(), Factor(d, b, 1)));
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

Tensor DivNumber(Dispatcher& d, const Backward& b) {
  return AsReal(d, SelfType(b), d.Call("aten::div.Scalar", b.grad(), Factor(d, b, 1)));
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

// -grad * trunc(self / other)
Tensor FmodOther(Dispatcher& d, const Backward& b) {
  const Tensor times = d.Call("aten::div.Tensor_mode", b.saved(0), b.saved(1), d.Text("trunc"));
  const Tensor minus = d.Call("aten::neg", b.grad());
  return Times(d, minus, times);
}

Tensor Abs(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), d.Call("aten::sgn", b.saved(0)));
}

}  // namespace steelyard::gradients
