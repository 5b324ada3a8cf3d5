// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/factory.h"

#include "ops/gradients/expression.h"

namespace steelyard::gradients {

Tensor FillValue(Dispatcher& d, const Backward& b) { return d.Call("aten::sum", b.grad()); }

Tensor ZerosOfSelf(Dispatcher& d, const Backward& b) {
  const TensorView self = b.op().self();
  return d.Call("aten::zeros", Dims(self.sizes()), self.dtype());
}

Tensor StandardGammaSelf(Dispatcher& d, const Backward& b) {
  const Tensor by_shape = d.Call("aten::_standard_gamma_grad", b.saved(0), b.result());
  return d.Call("aten::mul.Tensor", b.grad(), by_shape);
}

// grad_output, mask, scale
Tensor NativeDropoutGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor grad_output = b.saved(0);
  return (TypedAs(b.grad(), grad_output) * (TypedAs(b.saved(1), grad_output) * b.op().arg(2)))
      .Value(d);
}

// input, p, train: by how much what was kept is scaled
Tensor NativeDropoutInput(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const double p = op.real(1);
  const bool drops = !op.given(2) || op.boolean(2);
  const double scale = !drops ? 1.0 : p == 1 ? 0.0 : 1 / (1 - p);
  return d.Call("aten::native_dropout_backward", b.grad(), b.result(1), scale);
}

}  // namespace steelyard::gradients
