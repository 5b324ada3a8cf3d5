// SPDX-License-Identifier: Apache-2.0
//
// Layers that PyTorch takes apart before its dispatcher sees them: pools of rows, oneDNN's LSTM,
// columns that are added up to an image, channels dealt out, alignments in time, and CUDA's
// dropout.

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/col2im.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/mkldnn_rnn_layer.h>
#include <ATen/ops/mkldnn_rnn_layer_backward.h>
#include <ATen/ops/native_channel_shuffle.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/native_dropout_backward.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/kernels.h"
#include "kernels/operands_taken.h"

namespace steelyard::engine {
namespace {

void MaxPool1dValues(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const Sizes kernel = taken.Integers();
  const Sizes stride = taken.Integers();
  const Sizes padding = taken.Integers();
  const Sizes dilation = taken.Integers();
  stack->emplace_back(at::max_pool1d(self, kernel, stride, padding, dilation, taken.Bool()));
}

// input, four weights, two states, and how the layer is built
struct LstmLayer {
  explicit LstmLayer(Taken& taken)
      : input(taken.Tensor()),
        weights{taken.Tensor(), taken.Tensor(), taken.Tensor(), taken.Tensor()},
        hidden(taken.Tensor()),
        cells(taken.Tensor()),
        reverse(taken.Bool()),
        batch_sizes(taken.Integers()),
        mode(taken.Integer()),
        hidden_size(taken.Integer()),
        layers(taken.Integer()),
        has_biases(taken.Bool()),
        bidirectional(taken.Bool()),
        batch_first(taken.Bool()),
        train(taken.Bool()) {}
  at::Tensor input;
  std::array<at::Tensor, 4> weights;
  at::Tensor hidden, cells;
  bool reverse;
  Sizes batch_sizes;
  std::int64_t mode, hidden_size, layers;
  bool has_biases, bidirectional, batch_first, train;
};

void Put(at::Tensor tensor, Stack* stack) {
  stack->push_back(tensor.defined() ? IValue(std::move(tensor)) : IValue());
}

void Layer(Stack* stack) {
  Taken taken(stack);
  const LstmLayer of(taken);
  // There is a workspace only where gradients are recorded; below autograd none are.
  const at::AutoGradMode grad_mode(of.train);
  auto [output, hidden, cells, workspace] =
      at::mkldnn_rnn_layer(of.input, of.weights[0], of.weights[1], of.weights[2], of.weights[3],
                           of.hidden, of.cells, of.reverse, of.batch_sizes, of.mode, of.hidden_size,
                           of.layers, of.has_biases, of.bidirectional, of.batch_first, of.train);
  for (at::Tensor* tensor : {&output, &hidden, &cells, &workspace}) Put(std::move(*tensor), stack);
}

// A layer, the gradients of its three results, its workspace and these results
void LayerBackward(Stack* stack) {
  Taken taken(stack);
  const LstmLayer of(taken);
  std::array<at::Tensor, 7> more;
  for (at::Tensor& tensor : more) tensor = taken.Tensor();
  const auto& [grad_output, grad_hidden, grad_cells, workspace, output, hidden, cells] = more;
  auto gradients = at::mkldnn_rnn_layer_backward(
      of.input, of.weights[0], of.weights[1], of.weights[2], of.weights[3], of.hidden, of.cells,
      output, hidden, cells, grad_output, grad_hidden, grad_cells, of.reverse, of.mode,
      of.hidden_size, of.layers, of.has_biases, of.train, of.bidirectional, of.batch_sizes,
      of.batch_first, workspace);
  auto& [of_input, of_weight1, of_weight2, of_bias1, of_bias2, of_hidden, of_cells] = gradients;
  for (at::Tensor* tensor :
       {&of_input, &of_hidden, &of_cells, &of_weight1, &of_weight2, &of_bias1, &of_bias2}) {
    Put(std::move(*tensor), stack);
  }
}

// self, sizes of the image, kernel, dilation, padding, stride: the image lies at the beginning of
// room for the larger of image and columns.
void ColumnStorage(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const Sizes sizes = taken.Integers();
  const Sizes kernel = taken.Integers();
  const Sizes dilation = taken.Integers();
  const Sizes padding = taken.Integers();
  const at::IntArrayRef image = at::IntArrayRef(sizes).slice(sizes.size() - 2, 2);
  const std::int64_t count = c10::multiply_integers(sizes);
  at::Tensor storage = at::empty({std::max(self.numel(), count)}, self.options());
  at::Tensor made = storage.narrow(0, 0, count).view(sizes);
  at::col2im_out(made, self, image, kernel, dilation, padding, taken.Integers());
  stack->emplace_back(std::move(storage));
}

// input, p, train
void FusedDropout(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const double p = taken.Number().toDouble();
  auto [kept, mask] = at::native_dropout(self, p, taken.Bool());
  stack->emplace_back(std::move(kept));
  stack->emplace_back(std::move(mask));
}

void MaskedScale(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  const at::Tensor mask = taken.Tensor();
  stack->emplace_back(at::native_dropout_backward(grad, mask, taken.Number().toDouble()));
}

// self, groups
void ChannelsShuffled(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  stack->emplace_back(at::native_channel_shuffle(self, taken.Integer()));
}

// As aten::_ctc_loss_backward is called. The chances from the end are a step of CUDA's, whose other
// steps change the gradient that they give.
void CtcGradients(Stack* stack) {
  Taken taken(stack);
  const at::Tensor grad = taken.Tensor();
  TORCH_CHECK_NOT_IMPLEMENTED(grad.is_cpu(), kNoKernel);
  const at::Tensor chances = taken.Tensor();
  const at::Tensor targets = taken.Tensor();
  const Sizes inputs = taken.Integers();
  const Sizes lengths = taken.Integers();
  const at::Tensor loss = taken.Tensor();
  const at::Tensor alpha = taken.Tensor();
  const std::int64_t blank = taken.Integer();
  stack->emplace_back(at::_ctc_loss_backward(grad, chances, targets, inputs, lengths, loss, alpha,
                                             blank, taken.Bool()));
  stack->emplace_back(at::empty_like(alpha));
}

constexpr std::array kRows{
    KernelRow{"steelyard::channels_shuffled", ChannelsShuffled},
    KernelRow{"steelyard::ctc_gradients", CtcGradients},
    KernelRow{"steelyard::fused_dropout", FusedDropout},
    KernelRow{"steelyard::masked_scale", MaskedScale},
    KernelRow{"steelyard::column_storage", ColumnStorage},
    KernelRow{"steelyard::lstm_layer", Layer},
    KernelRow{"steelyard::lstm_layer_backward", LayerBackward},
    KernelRow{"steelyard::max_pool1d_values", MaxPool1dValues},
};

}  // namespace

std::span<const KernelRow> NetworkKernels() { return kRows; }

}  // namespace steelyard::engine
