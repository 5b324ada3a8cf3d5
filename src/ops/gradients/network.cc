// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/network.h"

namespace steelyard::gradients {

Tensor ThresholdResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::threshold_backward", b.grad(), b.result(), std::int64_t{0});
}

Tensor GeluSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::gelu_backward", b.grad(), b.saved(0), b.op().arg(1));
}

// self, alpha, scale, input_scale
Tensor EluSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::elu_backward", b.grad(), op.arg(1), op.arg(2), op.arg(3), false, b.saved(0));
}
Tensor HardtanhSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardtanh_backward", b.grad(), b.saved(0), b.op().arg(1), b.op().arg(2));
}
Tensor LeakyReluSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::leaky_relu_backward", b.grad(), b.saved(0), b.op().arg(1), false);
}
Tensor EluResult(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::elu_backward", b.grad(), op.arg(1), op.arg(2), op.arg(3), true, b.result());
}
Tensor LeakyReluResult(Dispatcher& d, const Backward& b) {
  return d.Call("aten::leaky_relu_backward", b.grad(), b.result(), b.op().arg(1), true);
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

// self, target, reduction
Tensor MseSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mse_loss_backward", b.grad(), b.saved(0), b.saved(1), b.op().arg(2));
}
Tensor MseTarget(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mse_loss_backward", b.grad(), b.saved(1), b.saved(0), b.op().arg(2));
}

// input, normalized_shape, weight, bias, eps
std::vector<Tensor> LayerNorm(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::native_layer_norm_backward", b.grad(), b.saved(0), b.op().arg(1),
                    b.result(1), b.result(2), b.saved(2), b.saved(3),
                    d.Mask({b.needs(0), b.needs(2), b.needs(3)}));
}

// query, key, value, dropout_p, is_causal, attn_mask, scale
std::vector<Tensor> FlashAttention(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::_scaled_dot_product_flash_attention_for_cpu_backward", b.grad(),
                    b.saved(0), b.saved(1), b.saved(2), b.result(0), b.result(1), op.arg(3),
                    op.arg(4), b.saved(5), op.arg(6));
}

// weight, indices, padding_idx, scale_grad_by_freq
Tensor EmbeddingWeight(Dispatcher& d, const Backward& b) {
  return d.Call("aten::embedding_dense_backward", b.grad(), b.saved(1), b.op().self().size(0),
                b.op().integer(2, -1), b.op().boolean(3));
}

// self, target, weight, reduction, ignore_index
Tensor NllLossSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::nll_loss_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                b.op().arg(3), b.op().arg(4), b.result(1));
}

Tensor MaskedFillSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_fill.Scalar", b.grad(), b.saved(1), std::int64_t{0});
}

// condition, self, other
Tensor WhereSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::where.ScalarOther", b.saved(0), b.grad(), std::int64_t{0});
}
Tensor WhereOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::where.ScalarSelf", b.saved(0), std::int64_t{0}, b.grad());
}

}  // namespace steelyard::gradients
