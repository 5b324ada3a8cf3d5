// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/bags.h"

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::gradients {

// weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
// include_last_offset, padding_idx
Tensor BagWeights(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_embedding_bag_per_sample_weights_backward", b.grad(), b.saved(0),
                b.saved(1), b.saved(2), b.result(1), b.op().arg(4), b.op().arg(8));
}
Tensor BagTable(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_embedding_bag_backward", b.grad(), b.saved(1), b.saved(2), b.result(1),
                b.result(2), b.result(3), op.self().size(0), op.arg(3), op.arg(4), op.arg(5),
                b.saved(6), op.arg(8));
}

// log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
Tensor CtcProbabilities(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_ctc_loss_backward", b.grad(), b.saved(0), b.saved(1), op.arg(2), op.arg(3),
                b.result(0), b.result(1), op.arg(4), op.arg(5));
}

}  // namespace steelyard::gradients
