// SPDX-License-Identifier: Apache-2.0
//
// Each backward kernel is given what its schema asks for, in an order that is not the forward
// operator's; of one that overwrote its operand it is given the result. Where there is no kernel,
// as for the logits or the target of a binary cross entropy, formula and temporaries are
// FunctionsManual.cpp's.

#include "ops/gradients/network.h"

#include "ops/gradients/sparse.h"

namespace steelyard::gradients {
namespace {

constexpr std::int64_t kMean = 1;  // as ATen/core/Reduction.h numbers it

// The derivative of a binary cross entropy, times its weight; of a mean, divided by the number of
// elements.
Tensor Reduced(Dispatcher& d, const Backward& b, int reduction, const Tensor& derivative) {
  const Tensor weight = b.saved(2);
  if (weight.defined()) d.Call("aten::mul_.Tensor", derivative, weight);
  const bool mean = b.op().integer(reduction, kMean) == kMean;
  if (mean) d.Call("aten::div_.Scalar", derivative, b.op().tensor(1).count());
  return derivative;
}

}  // namespace

// self, target, reduction
Tensor MseSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mse_loss_backward", b.grad(), b.saved(0), b.saved(1), b.op().arg(2));
}
Tensor MseTarget(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mse_loss_backward", b.grad(), b.saved(1), b.saved(0), b.op().arg(2));
}

// self, target, reduction, beta
Tensor SmoothL1Self(Dispatcher& d, const Backward& b) {
  return d.Call("aten::smooth_l1_loss_backward", b.grad(), b.saved(0), b.saved(1), b.op().arg(2),
                b.op().arg(3));
}
Tensor SmoothL1Target(Dispatcher& d, const Backward& b) {
  return d.Call("aten::smooth_l1_loss_backward", b.grad(), b.saved(1), b.saved(0), b.op().arg(2),
                b.op().arg(3));
}
Tensor HuberSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::huber_loss_backward", b.grad(), b.saved(0), b.saved(1), b.op().arg(2),
                b.op().arg(3));
}
Tensor HuberTarget(Dispatcher& d, const Backward& b) {
  return d.Call("aten::huber_loss_backward", b.grad(), b.saved(1), b.saved(0), b.op().arg(2),
                b.op().arg(3));
}

// self, target, weight, reduction
Tensor CrossEntropySelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::binary_cross_entropy_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                b.op().arg(3));
}
// -logit(self) * grad
Tensor CrossEntropyTarget(Dispatcher& d, const Backward& b) {
  const Tensor derivative = d.Call("aten::logit", b.saved(0));
  d.Call("aten::neg_", derivative);
  d.Call("aten::mul_.Tensor", derivative, b.grad());
  return Reduced(d, b, 3, derivative);
}

// self, target, weight, pos_weight, reduction
Tensor LogitsSelf(Dispatcher& d, const Backward& b) {
  Tensor derivative;
  if (b.saved(3).defined()) {
    const Tensor weighted = d.Call("aten::mul.Tensor", b.saved(3), b.saved(1));
    derivative = d.Call("aten::add.Scalar", weighted, std::int64_t{1});
    d.Call("aten::sub_.Tensor", derivative, b.saved(1));
    const Tensor chance = d.Call("aten::sigmoid", b.saved(0));
    d.Call("aten::mul_.Tensor", derivative, chance);
    d.Call("aten::sub_.Tensor", derivative, weighted);
  } else {
    derivative = d.Call("aten::sigmoid", b.saved(0));
    d.Call("aten::sub_.Tensor", derivative, b.saved(1));
  }
  d.Call("aten::mul_.Tensor", derivative, b.grad());
  return Reduced(d, b, 4, derivative);
}
// grad * -self; log_sigmoid(-self) - log_sigmoid(self) * pos_weight
Tensor LogitsTarget(Dispatcher& d, const Backward& b) {
  Tensor minus = d.Call("aten::neg", b.saved(0));
  Tensor derivative;
  if (b.saved(3).defined()) {
    derivative = d.Call("aten::log_sigmoid", minus);
    const Tensor other = d.Call("aten::log_sigmoid", b.saved(0));
    d.Call("aten::mul_.Tensor", other, b.saved(3));
    d.Call("aten::sub_.Tensor", derivative, other);
    d.Call("aten::mul_.Tensor", derivative, b.grad());
  } else {
    derivative = d.Call("aten::mul.Tensor", minus, b.grad());
  }
  minus.reset();
  return Reduced(d, b, 4, derivative);
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

// query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale
std::vector<Tensor> EfficientAttention(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  std::vector<Tensor> out = d.CallMany(
      "aten::_scaled_dot_product_efficient_attention_backward", b.grad(), b.saved(0), b.saved(1),
      b.saved(2), b.saved(3), b.result(0), b.result(1), b.result(2), b.result(3), op.arg(5),
      d.Mask({b.needs(0), b.needs(1), b.needs(2), b.needs(3)}), op.arg(6), op.arg(7));
  // Rows of the bias's gradient are padded.
  const bool pads = out[3].defined() && out[3].size(-1) != op.tensor(3).size(-1);
  if (pads) out[3] = d.Call("aten::slice.Tensor", out[3], -1, 0, op.tensor(3).size(-1));
  return out;
}

// query, key, value, dropout_p, is_causal, return_debug_mask, scale
std::vector<Tensor> CudaFlashAttention(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::_scaled_dot_product_flash_attention_backward", b.grad(), b.saved(0),
                    b.saved(1), b.saved(2), b.result(0), b.result(1), std::nullopt, std::nullopt,
                    op.self().size(2), op.tensor(1).size(2), op.arg(3), op.arg(4), b.result(6),
                    b.result(7), op.arg(6));
}

// query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, return_debug_mask,
// scale, window_size_left, window_size_right
std::vector<Tensor> PackageAttention(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::_flash_attention_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                    b.result(0), b.result(1), std::nullopt, std::nullopt, op.arg(5), op.arg(6),
                    op.arg(7), op.arg(8), b.result(2), b.result(3), op.arg(10), op.arg(11),
                    op.arg(12));
}

// query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, return_debug_mask, scale
std::vector<Tensor> CudnnAttention(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::_scaled_dot_product_cudnn_attention_backward", b.grad(), b.saved(0),
                    b.saved(1), b.saved(2), b.result(0), b.result(1), b.result(6), b.result(7),
                    b.saved(3), std::nullopt, std::nullopt, op.self().size(2), op.tensor(1).size(2),
                    op.arg(5), op.arg(6), op.arg(8));
}

// input, weight0 to weight3, hx_, cx_, reverse, batch_sizes, mode, hidden_size, num_layers,
// has_biases, bidirectional, batch_first, train
std::vector<Tensor> RnnLayer(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::mkldnn_rnn_layer_backward", b.saved(0), b.saved(1), b.saved(2),
                    b.saved(3), b.saved(4), b.saved(5), b.saved(6), b.result(0), b.result(1),
                    b.result(2), b.grad(0), b.grad(1), b.grad(2), op.arg(7), op.arg(9), op.arg(10),
                    op.arg(11), op.arg(12), op.arg(15), op.arg(13), op.arg(8), op.arg(14),
                    b.result(3));
}

// weight, indices, padding_idx, scale_grad_by_freq, sparse
Tensor EmbeddingWeight(Dispatcher& d, const Backward& b) {
  if (b.op().boolean(4)) {
    if (b.op().boolean(3)) Refuse("PyTorch scales no sparse gradient by how often an id occurs");
    return SparseRows(d, b.grad(), b.saved(1), b.op().self().size(0), b.op().integer(2, -1));
  }
  return d.Call("aten::embedding_dense_backward", b.grad(), b.saved(1), b.op().self().size(0),
                b.op().integer(2, -1), b.op().boolean(3));
}

// self, target, weight, reduction, ignore_index
Tensor NllLossSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::nll_loss_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                b.op().arg(3), b.op().arg(4), b.result(1));
}

Tensor NllLoss2dSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::nll_loss2d_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                b.op().arg(3), b.op().arg(4), b.result(1));
}

// self, target, reduction
Tensor SoftMarginSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::soft_margin_loss_backward", b.grad(), b.saved(0), b.saved(1), b.op().arg(2));
}
// self, target, p, margin, weight, reduction
Tensor MultiMarginSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::multi_margin_loss_backward", b.grad(), b.saved(0), b.saved(1), op.arg(2),
                op.arg(3), b.saved(4), op.arg(5));
}

}  // namespace steelyard::gradients
