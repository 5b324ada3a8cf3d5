// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/products.h"

#include "ops/gradients/words.h"

namespace steelyard::gradients {

// self, other: the first of them was conjugated
Tensor VdotFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", Conjugate(d, b.grad()), b.saved(1));
}
Tensor VdotSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), b.saved(0));
}

// self, vec1, vec2, beta, alpha
Tensor AddrSelf(Dispatcher& d, const Backward& b) {
  return MaybeMultiply(d, b.grad(), b.op().real(3, 1.0));
}
Tensor AddrFirst(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mv", b.grad(), Conjugate(d, b.saved(2)));
  return MaybeMultiply(d, product, b.op().real(4, 1.0));
}
Tensor AddrSecond(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mv", d.Call("aten::t", b.grad()), Conjugate(d, b.saved(1)));
  return MaybeMultiply(d, product, b.op().real(4, 1.0));
}

// i1, i2, i3, expand1, expand2, expand3, sumdim: the gradient takes the place of the factor that is
// differentiated, and lacks what was summed
Tensor TrilinearFirst(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_trilinear", b.grad(), Conjugate(d, b.saved(1)), Conjugate(d, b.saved(2)),
                op.arg(6), op.arg(4), op.arg(5), op.arg(3));
}
Tensor TrilinearSecond(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_trilinear", Conjugate(d, b.saved(0)), b.grad(), Conjugate(d, b.saved(2)),
                op.arg(3), op.arg(6), op.arg(5), op.arg(4));
}
Tensor TrilinearThird(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_trilinear", Conjugate(d, b.saved(0)), Conjugate(d, b.saved(1)), b.grad(),
                op.arg(3), op.arg(4), op.arg(6), op.arg(5));
}

}  // namespace steelyard::gradients
