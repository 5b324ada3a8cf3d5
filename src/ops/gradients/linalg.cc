// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a column-major factor is computed column-major, so that it arrives in the layout
// of the weight that was transposed to make the factor (mm_mat1_backward, mm_mat2_backward).

#include "ops/gradients/linalg.h"

#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

bool IsColumnMajor(const TensorView& factor) {
  return factor.stride(0) == 1 && factor.stride(1) == factor.size(0);
}

// Of the factor at `factor`, the first of the product; the other one was saved.
Tensor FirstFactor(Dispatcher& d, const Backward& b, int factor, double alpha) {
  const Tensor other = Conjugate(d, b.saved(factor + 1));
  if (IsColumnMajor(b.op().tensor(factor))) {
    const Tensor turned = d.Call("aten::mm", other, d.Call("aten::t", b.grad()));
    return MaybeMultiply(d, d.Call("aten::t", turned), alpha);
  }
  return MaybeMultiply(d, d.Call("aten::mm", b.grad(), d.Call("aten::t", other)), alpha);
}

Tensor SecondFactor(Dispatcher& d, const Backward& b, int factor, double alpha) {
  const Tensor other = Conjugate(d, b.saved(factor - 1));
  if (IsColumnMajor(b.op().tensor(factor))) {
    const Tensor turned = d.Call("aten::mm", d.Call("aten::t", b.grad()), other);
    return MaybeMultiply(d, d.Call("aten::t", turned), alpha);
  }
  return MaybeMultiply(d, d.Call("aten::mm", d.Call("aten::t", other), b.grad()), alpha);
}

Tensor Transposed(Dispatcher& d, const Tensor& batch) {
  return Conjugate(d, d.Call("aten::transpose.int", batch, 1, 2));
}

}  // namespace

Tensor MmFirst(Dispatcher& d, const Backward& b) { return FirstFactor(d, b, 0, 1.0); }
Tensor MmSecond(Dispatcher& d, const Backward& b) { return SecondFactor(d, b, 1, 1.0); }

// self, mat1, mat2, beta, alpha
Tensor AddmmSelf(Dispatcher& d, const Backward& b) {
  return MaybeMultiply(d, b.grad(), b.op().real(3, 1.0));
}
Tensor AddmmFirst(Dispatcher& d, const Backward& b) {
  return FirstFactor(d, b, 1, b.op().real(4, 1.0));
}
Tensor AddmmSecond(Dispatcher& d, const Backward& b) {
  return SecondFactor(d, b, 2, b.op().real(4, 1.0));
}

Tensor BmmFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::bmm", b.grad(), Transposed(d, b.saved(1)));
}
Tensor BmmSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::bmm", Transposed(d, b.saved(0)), b.grad());
}

Tensor BaddbmmFirst(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::bmm", b.grad(), Transposed(d, b.saved(2)));
  return MaybeMultiply(d, product, b.op().real(4, 1.0));
}
Tensor BaddbmmSecond(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::bmm", Transposed(d, b.saved(1)), b.grad());
  return MaybeMultiply(d, product, b.op().real(4, 1.0));
}

Tensor MvMatrix(Dispatcher& d, const Backward& b) {
  return d.Call("aten::outer", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor MvVector(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mv", d.Call("aten::t", Conjugate(d, b.saved(0))), b.grad());
}

Tensor DotFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor DotSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(0)));
}

}  // namespace steelyard::gradients
