// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/pointwise_ternary.h"

namespace steelyard::gradients {

// self, end, weight
Tensor LerpSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), 1.0 - b.op().real(2));
}

Tensor LerpEnd(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Scalar", b.grad(), b.op().arg(2));
}

// self, end, weight
Tensor LerpByTensorSelf(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, OneMinus(d, b.saved(2))));
}

Tensor LerpByTensorEnd(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), Conjugate(d, b.saved(2)));
}

Tensor LerpWeight(Dispatcher& d, const Backward& b) {
  const Tensor distance = d.Call("aten::sub.Tensor", b.saved(1), b.saved(0));
  return Times(d, b.grad(), Conjugate(d, distance));
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
