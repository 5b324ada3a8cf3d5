// SPDX-License-Identifier: Apache-2.0
//
// Each backward kernel is given what its schema asks for, in an order that is not the forward
// operator's; of an operator that overwrote its operand, from which only the result is left, it is
// given that.

#include "ops/gradients/activation.h"

namespace steelyard::gradients {

Tensor ThresholdResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::threshold_backward", b.grad(), b.result(), std::int64_t{0});
}

// self, threshold, value
Tensor BelowThreshold(Dispatcher& d, const Backward& b) {
  return d.Call("aten::threshold_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor HardtanhSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardtanh_backward", b.grad(), b.saved(0), b.op().arg(1), b.op().arg(2));
}

Tensor HardshrinkSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardshrink_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor SoftshrinkSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::softshrink_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor LeakyReluSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::leaky_relu_backward", b.grad(), b.saved(0), b.op().arg(1), false);
}

Tensor LeakyReluResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::leaky_relu_backward", b.grad(), b.result(), b.op().arg(1), true);
}

std::vector<Tensor> Prelu(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::_prelu_kernel_backward", b.grad(), b.saved(0), b.saved(1));
}

// self, alpha, scale, input_scale
Tensor EluSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::elu_backward", b.grad(), op.arg(1), op.arg(2), op.arg(3), false, b.saved(0));
}

// In place the operand is gone, but its sign can be told from the result.
Tensor EluResult(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::elu_backward", b.grad(), op.arg(1), op.arg(2), op.arg(3), true, b.result());
}

// self, alpha
Tensor CeluSelf(Dispatcher& d, const Backward& b) {
  const double alpha = b.op().real(1, 1.0);
  return d.Call("aten::elu_backward", b.grad(), alpha, std::int64_t{1}, 1.0 / alpha, false,
                b.saved(0));
}

Tensor CeluResult(Dispatcher& d, const Backward& b) {
  const double alpha = b.op().real(1, 1.0);
  return d.Call("aten::elu_backward", b.grad(), alpha, 1.0, 1.0 / alpha, true, b.result());
}

Tensor GeluSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::gelu_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor GluSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::glu_backward", b.grad(), b.saved(0), b.op().arg(1));
}

Tensor SoftplusSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::softplus_backward", b.grad(), b.saved(0), b.op().arg(1), b.op().arg(2));
}

Tensor LogSigmoidSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::log_sigmoid_backward", b.grad(), b.saved(0), b.result(1));
}

}  // namespace steelyard::gradients
