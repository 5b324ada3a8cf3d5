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
Tensor FirstFactor(Dispatcher& d, const Backward& b, int factor, const Argument& alpha) {
  const Tensor other = Conjugate(d, b.saved(factor + 1));
  if (IsColumnMajor(b.op().tensor(factor))) {
    const Tensor turned = d.Call("aten::mm", other, d.Call("aten::t", b.grad()));
    return MaybeMultiply(d, d.Call("aten::t", turned), alpha);
  }
  return MaybeMultiply(d, d.Call("aten::mm", b.grad(), d.Call("aten::t", other)), alpha);
}

Tensor SecondFactor(Dispatcher& d, const Backward& b, int factor, const Argument& alpha) {
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

bool LastTwoColumnMajor(const TensorView& t) {
  return t.stride(-2) == 1 && t.stride(-1) == t.size(-2);
}

Tensor LastTwoTurned(Dispatcher& d, const Tensor& t) {
  return d.Call("aten::transpose.int", t, -2, -1);
}

}  // namespace

// The product of `mm` has no factor.
const Argument kOnce = Argument::OfFloat(1.0);
Tensor MmFirst(Dispatcher& d, const Backward& b) { return FirstFactor(d, b, 0, kOnce); }
Tensor MmSecond(Dispatcher& d, const Backward& b) { return SecondFactor(d, b, 1, kOnce); }

// self, mat1, mat2, beta, alpha
Tensor AddmmSelf(Dispatcher& d, const Backward& b) {
  return MaybeMultiply(d, b.grad(), Factor(d, b, 3));
}
Tensor AddmmFirst(Dispatcher& d, const Backward& b) {
  return FirstFactor(d, b, 1, Factor(d, b, 4));
}
Tensor AddmmSecond(Dispatcher& d, const Backward& b) {
  return SecondFactor(d, b, 2, Factor(d, b, 4));
}

Tensor BmmFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::bmm", b.grad(), Transposed(d, b.saved(1)));
}
Tensor BmmSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::bmm", Transposed(d, b.saved(0)), b.grad());
}

Tensor BaddbmmFirst(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::bmm", b.grad(), Transposed(d, b.saved(2)));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}
Tensor BaddbmmSecond(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::bmm", Transposed(d, b.saved(1)), b.grad());
  return MaybeMultiply(d, product, Factor(d, b, 4));
}

// self, batch1, batch2, beta, alpha: every product has the whole gradient
Tensor SpreadOverBatch(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims sizes{op.tensor(1).size(0), op.tensor(1).size(1), op.tensor(2).size(2)};
  return d.Call("aten::expand", d.Call("aten::unsqueeze", b.grad(), 0), sizes);
}
Tensor AddbmmFirst(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::bmm", SpreadOverBatch(d, b), Transposed(d, b.saved(2)));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}
Tensor AddbmmSecond(Dispatcher& d, const Backward& b) {
  const Tensor turned = Transposed(d, b.saved(1));
  const Tensor product = d.Call("aten::bmm", turned, SpreadOverBatch(d, b));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}

Tensor MvMatrix(Dispatcher& d, const Backward& b) {
  return d.Call("aten::outer", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor MvVector(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mv", d.Call("aten::t", Conjugate(d, b.saved(0))), b.grad());
}

// self, mat, vec, beta, alpha
Tensor AddmvSelf(Dispatcher& d, const Backward& b) {
  return MaybeMultiply(d, b.grad(), Factor(d, b, 3));
}
Tensor AddmvMatrix(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::ger", b.grad(), Conjugate(d, b.saved(2)));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}
Tensor AddmvVector(Dispatcher& d, const Backward& b) {
  const Tensor turned = Conjugate(d, d.Call("aten::t", b.saved(1)));
  return MaybeMultiply(d, d.Call("aten::mv", turned, b.grad()), Factor(d, b, 4));
}

// self, mat2, offs: column-major gradients of column-major operands, as of mm
Tensor GroupedFirst(Dispatcher& d, const Backward& b) {
  const Tensor other = b.saved(1);
  if (LastTwoColumnMajor(b.op().self())) {
    const Tensor turned = LastTwoTurned(d, b.grad());
    return LastTwoTurned(d, d.Call("aten::_grouped_mm", other, turned, b.saved(2)));
  }
  return d.Call("aten::_grouped_mm", b.grad(), LastTwoTurned(d, other), b.saved(2));
}
Tensor GroupedSecond(Dispatcher& d, const Backward& b) {
  const Tensor other = b.saved(0);
  if (LastTwoColumnMajor(b.op().tensor(1))) {
    const Tensor turned = LastTwoTurned(d, b.grad());
    return LastTwoTurned(d, d.Call("aten::_grouped_mm", turned, other, b.saved(2)));
  }
  return d.Call("aten::_grouped_mm", LastTwoTurned(d, other), b.grad(), b.saved(2));
}

// input, weight, offs
std::vector<Tensor> GroupedFallback(Dispatcher& d, const Backward& b) {
  return d.CallMany("transformers::grouped_mm_fallback_backward", b.saved(0), b.saved(1),
                    b.saved(2), b.grad());
}

Tensor DotFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor DotSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.saved(0)));
}

}  // namespace steelyard::gradients
