// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/normalization.h"

namespace steelyard::gradients {

// input, weight, bias, running_mean, running_var, training, momentum, eps
std::vector<Tensor> BatchNorm(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::native_batch_norm_backward", b.grad(), b.saved(0), b.saved(1),
                    b.saved(3), b.saved(4), b.result(1), b.result(2), b.op().arg(5), b.op().arg(7),
                    d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
}

// input, weight, bias, N, C, HxW, group, eps
std::vector<Tensor> GroupNorm(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  if (b.grad(1).defined() || b.grad(2).defined()) {
    Refuse("the gradient of aten::native_group_norm by way of its statistics is not known");
  }
  return d.CallMany("aten::native_group_norm_backward", b.grad(), b.saved(0), b.result(1),
                    b.result(2), b.saved(1), op.arg(3), op.arg(4), op.arg(5), op.arg(6),
                    d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
}

// v, g, dim; result 1 is the norms
std::vector<Tensor> WeightNorm(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return d.CallMany("aten::_weight_norm_interface_backward", grad, b.saved(0), b.saved(1),
                    b.result(1), b.op().arg(2));
}

}  // namespace steelyard::gradients
