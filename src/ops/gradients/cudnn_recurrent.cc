// SPDX-License-Identifier: Apache-2.0
#include "ops/gradients/cudnn_recurrent.h"

#include "ir/layout.h"

namespace steelyard::gradients {
namespace {

// Where the gradient of each weight lies in the buffer: the matrices of all layers first.
std::vector<Tensor> PartsOf(Dispatcher& d, const std::vector<TensorView>& weights, int each,
                            const Tensor& buffer) {
  std::vector<Tensor> parts(weights.size());
  std::int64_t at = 0;
  const auto take = [&](bool biases) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t place = i % static_cast<std::size_t>(each);
      if ((weights[i].rank() == 1) != biases || place >= static_cast<std::size_t>(each)) continue;
      const Dims sizes(weights[i].sizes());
      parts[i] = d.Call("aten::as_strided", buffer, sizes, ContiguousStrides(sizes), at);
      at += weights[i].count();
    }
  };
  take(false);
  take(true);
  return parts;
}

// Without biases, of which the buffer has room nevertheless, each is copied.
std::vector<Tensor> CopiesOf(Dispatcher& d, const std::vector<TensorView>& weights) {
  std::vector<Tensor> copies;
  copies.reserve(weights.size());
  for (const TensorView& weight : weights) {
    copies.push_back(d.Call("aten::empty.memory_format", Dims(weight.sizes()), weight.dtype()));
  }
  return copies;
}

std::vector<Tensor> OfWeights(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor input = b.saved(0);
  const Tensor first = op.boolean(10) ? d.Call("aten::transpose.int", input, 0, 1) : input;
  Tensor in_time = d.Call("aten::contiguous", first);
  Tensor buffer = d.Call("steelyard::cudnn_rnn_weight_gradients", in_time, op.arg(6), op.arg(7),
                         op.arg(8), op.arg(9), op.arg(13));
  const std::vector<TensorView> weights = op.tensors(1);
  const std::int64_t each = op.integer(2);
  const bool biased = each >= 4;
  std::vector<Tensor> out =
      biased ? PartsOf(d, weights, static_cast<int>(each), buffer) : CopiesOf(d, weights);
  buffer.reset();
  in_time.reset();
  return out;
}

}  // namespace

std::vector<Tensor> CudnnRnn(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  if (!op.boolean(12)) Refuse("cuDNN's recurrent networks have gradients in training mode alone");
  const Dispatcher::Inside inside(d, "aten::_cudnn_rnn_backward");
  const auto zeros = [&](const Tensor& like) {
    return d.Call("aten::zeros_like", like, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                  std::int64_t{0});
  };
  const Tensor output = b.result(), state = b.saved(4), cells = b.saved(5);
  const Tensor grad_output = b.grad(0).defined() ? b.grad(0) : zeros(output);
  const Tensor grad_state = b.grad(1).defined() ? b.grad(1) : zeros(state);
  Tensor grad_cells;
  if (cells.defined()) grad_cells = b.grad(2).defined() ? b.grad(2) : zeros(cells);
  std::vector<Tensor> out = d.CallMany(
      "steelyard::cudnn_rnn_input_gradients", b.saved(0), state, cells, output, grad_output,
      grad_state, grad_cells, op.arg(10), op.arg(6), op.arg(7), op.arg(8), op.arg(9), op.arg(13));
  if (!b.needs(1)) return out;
  for (Tensor& gradient : OfWeights(d, b)) out.push_back(std::move(gradient));
  return out;
}

}  // namespace steelyard::gradients
