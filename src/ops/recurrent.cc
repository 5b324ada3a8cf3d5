// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks. An LSTM runs layer by layer and direction by direction in oneDNN
// (ATen/native/mkldnn/RNN.cpp), whose private buffers were measured as those of convolutions
// (rules/onednn.h).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "ops/cudnn_recurrent.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/network.h"
#include "ops/recurrent_cells.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

constexpr std::int64_t kGates = 4;  // of an LSTM: input, forget, cell, output

// Of mkldnn_rnn_layer's arguments and of the kernels'.
constexpr int kHasBiases = 12, kTrain = 15;

// --- mkldnn_rnn_layer(input, weight0 to weight3, hx, cx, reverse, ...): [time, batch, size] ------

struct Layer {
  std::int64_t steps, batch, inputs, hidden;
};

Layer LayerOf(const OpView& op) {
  const TensorView input = op.self(), hidden = op.tensor(5);
  return {input.size(0), input.size(1), input.size(2), hidden.size(-1)};
}

void RequireGates(std::string_view name, const TensorView& weight, std::int64_t hidden,
                  std::int64_t columns) {
  shape::RequireRank(name, weight, 2);
  shape::RequireEqual(fmt::format("rows of {} and four gates", name), weight.size(0),
                      (Count(kGates) * hidden).value());
  shape::RequireEqual(fmt::format("columns of {}", name), weight.size(1), columns);
}

// Gates are filled up to blocks of this many elements (measured).
constexpr std::int64_t kGateBlock = 32;
// Rows take whole cache lines, and one more where they would have a multiple of 256 elements, which
// caches map to the same place (get_good_ld of oneDNN's rnn_utils).
constexpr std::int64_t kLine = 64;  // bytes
constexpr std::int64_t kClash = 256;
constexpr std::int64_t kPage = 4096;
// What the scratchpad needs besides its pages, with the addresses of a product's factors (measured
// on one thread).
constexpr std::int64_t kScratchTail = 696, kLowScratchTail = 680;
constexpr std::int64_t kAddresses = 80;
constexpr std::int64_t kTrainingScratchTail = 568, kLowBackwardScratchTail = 1264;
// Blocks of weights and columns of gates that a product in a lower precision takes.
constexpr std::int64_t kLowBlock = 32;

// Sums, and all gradients, of a lower precision are float32.
bool IsLow(DType dtype) { return BitsOf(dtype) < 32; }
DType SumsOf(DType dtype) { return IsLow(dtype) ? DType::kFloat32 : dtype; }

std::int64_t RowOf(std::int64_t size, DType dtype) {
  const std::int64_t line = kLine * 8 / BitsOf(dtype);
  const std::int64_t lines = RoundUp(size, line);
  return lines % kClash == 0 ? lines + line : lines;
}

// Rows of states, cells and gates of all steps.
Count StateRows(const Layer& layer) { return Count(2) * layer.batch * (Count(layer.steps) + 1); }
Count GateRows(const Layer& layer) { return Count(layer.steps) * layer.batch; }

std::int64_t Pages(Count elements, DType dtype) {
  return RoundUp(allocations::Bytes(elements, dtype), kPage);
}
std::int64_t RowPages(Count rows, std::int64_t size, DType dtype) {
  return Pages(rows * RowOf(size, dtype), dtype);
}

// For a single sequence the inputs of all steps are multiplied at once.
bool TakesAllSteps(const Layer& layer) { return layer.batch == 1 && layer.steps > 1; }
// Of one step, or of all.
std::int64_t GatePages(const Layer& layer, DType dtype) {
  const std::int64_t rows = TakesAllSteps(layer) ? layer.steps : layer.batch;
  return RowPages(Count(rows), kGates * layer.hidden, SumsOf(dtype));
}

// Inputs and states are multiplied at once if there are as many, and not all inputs are
// (rnn_brgemm_utils.cpp).
std::int64_t Addresses(const Layer& layer) {
  const bool together = !TakesAllSteps(layer) && layer.inputs == layer.hidden;
  return (together ? 2 : 1) * kAddresses;
}

// States and cells of all steps before and after, the gates of a step and a state, each in whole
// pages, and a page.
std::int64_t ScratchBytes(const Layer& layer, DType dtype) {
  const Count rows = StateRows(layer);
  return RowPages(rows, std::max(layer.inputs, layer.hidden), dtype) +
         Pages(rows * layer.hidden, dtype) + GatePages(layer, dtype) +
         RowPages(Count(layer.batch), layer.hidden, dtype) + kPage +
         (IsLow(dtype) ? kLowScratchTail : kScratchTail) + Addresses(layer);
}

// A gradient needs gates and states of all steps, and states, states and cells of gradients.
std::int64_t WorkspaceBytes(const Layer& layer, DType dtype) {
  const Count rows = StateRows(layer);
  const DType sums = SumsOf(dtype);
  const std::int64_t width = std::max(layer.inputs, layer.hidden);
  return RowPages(GateRows(layer), kGates * layer.hidden, dtype) +
         RowPages(GateRows(layer), layer.hidden, dtype) + RowPages(rows, width, dtype) +
         2 * RowPages(rows, width, sums) + Pages(rows * layer.hidden, dtype) +
         Pages(rows * layer.hidden, sums);
}

// A state in the precision of the layer and one in that of its sums.
std::int64_t TwoStates(const Layer& layer, DType dtype) {
  return RowPages(Count(layer.batch), layer.hidden, dtype) +
         RowPages(Count(layer.batch), layer.hidden, SumsOf(dtype));
}

// The gates of all steps, two states and a page, forward and backward; in a lower precision those
// of one step, and backward what it transposes.
std::int64_t TrainingScratchBytes(const Layer& layer, DType dtype) {
  const std::int64_t around = TwoStates(layer, dtype) + kPage;
  if (IsLow(dtype)) return around + GatePages(layer, dtype) + kLowScratchTail + Addresses(layer);
  return around + RowPages(GateRows(layer), kGates * layer.hidden, dtype) + kTrainingScratchTail;
}
std::int64_t BackwardScratchBytes(const Layer& layer, DType dtype) {
  if (!IsLow(dtype)) return TrainingScratchBytes(layer, dtype);
  const Count transposed =
      Count(RoundUp(layer.batch, 2)) * (Count(layer.inputs) + layer.hidden + kLowBlock);
  return TwoStates(layer, dtype) + kPage +
         RowPages(Count(layer.batch), kGates * layer.hidden, dtype) +
         allocations::Bytes(transposed, dtype) + kLowBackwardScratchTail;
}

void LayerShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  shape::RequireRank("the input", input, 3);
  for (int state : {5, 6}) {
    shape::RequireRank("the state", op.tensor(state), 2);
    shape::RequireEqual("batch sizes", op.tensor(state).size(0), input.size(1));
    shape::RequireEqual("hidden sizes", op.tensor(state).size(1), op.tensor(5).size(1));
  }
  const Layer layer = LayerOf(op);
  RequireGates("the input's weight", op.tensor(1), layer.hidden, layer.inputs);
  RequireGates("the state's weight", op.tensor(2), layer.hidden, layer.hidden);
  for (int bias : {3, 4}) {
    if (!op.boolean(kHasBiases)) break;  // zeros of the weights' sizes stand for them
    shape::RequireRank("the bias", op.tensor(bias), 1);
    shape::RequireEqual("elements of the bias and four gates", op.tensor(bias).size(0),
                        op.tensor(1).size(0));
  }
  product::RequireSameDType(input, op.tensor(1));
  out.Add(input.dtype(), Dims{layer.steps, layer.batch, layer.hidden});
  out.Add(input.dtype(), Dims{layer.batch, layer.hidden});
  out.Add(input.dtype(), Dims{layer.batch, layer.hidden});
  if (op.boolean(kTrain)) {
    out.Add(DType::kUInt8, Dims{WorkspaceBytes(layer, input.dtype())});
  } else {
    out.AddNone();
  }
}

using Buffers = std::vector<std::optional<Allocations::Scratch>>;

void FreeLastFirst(const Buffers& buffers, Allocations& memory) {
  constexpr std::string_view kLabel = Allocations::kCaller;
  for (std::size_t i = buffers.size(); i-- > 0;) {
    if (buffers[i]) memory.Free(*buffers[i], kLabel);
  }
}

Allocations::Scratch Buffer(Count elements, DType dtype, Allocations& memory) {
  return memory.Allocate(allocations::Bytes(elements, dtype), Allocations::kCaller);
}

// Both biases, which are added up first.
Allocations::Scratch BiasSum(const OpView& op, const Layer& layer, Allocations& memory) {
  return memory.Allocate(allocations::Bytes(Count(kGates) * layer.hidden, op.self().dtype()),
                         op.boolean(kHasBiases) ? "aten::add" : "aten::empty");
}

// A weight [gates, size] transposed, in rows of all gates; for a gradient they are as long as rows
// of states are.
std::optional<Allocations::Scratch> TransposedWeight(std::int64_t size, const Layer& layer,
                                                     DType dtype, Allocations& memory) {
  if (size == 1) return std::nullopt;  // it lies so already
  return Buffer(Count(size) * RowOf(kGates * layer.hidden, dtype), dtype, memory);
}

void LayerAllocations(const OpView& op, Allocations& memory) {
  const Layer layer = LayerOf(op);
  const DType dtype = op.self().dtype();
  for (int i = 0; i < 3; ++i) memory.Output(i, "aten::empty");
  Buffers buffers{BiasSum(op, layer, memory)};
  const bool train = op.boolean(kTrain);
  if (train) memory.Output(3, "aten::empty");
  for (const std::int64_t size : {layer.inputs, layer.hidden}) {
    if (train && BitsOf(dtype) == 32) {
      buffers.push_back(TransposedWeight(size, layer, dtype, memory));
    } else {
      const Count columns = Count(kGates) * RoundUp(layer.hidden, kGateBlock);
      const std::int64_t rows = IsLow(dtype) ? RoundUp(size, 2) : size;
      buffers.emplace_back(Buffer(columns * rows, dtype, memory));
    }
  }
  const std::int64_t scratch =
      train ? TrainingScratchBytes(layer, dtype) : ScratchBytes(layer, dtype);
  buffers.emplace_back(memory.Allocate(scratch, Allocations::kCaller));
  FreeLastFirst(buffers, memory);
}

// Two products per step; per hidden element three sigmoids, two hyperbolic tangents, and the sums
// and products around them.
Work LayerWork(const OpView& op) {
  const Layer layer = LayerOf(op);
  const Count cells = Count(layer.steps) * layer.batch * layer.hidden;
  return {.mac = cells * kGates * (Count(layer.inputs) + layer.hidden),
          .alu = cells * 12,
          .special = cells * 5};
}

// The workspace is made whenever gradients are on.
std::vector<Tensor> RnnLayer(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() != DType::kFloat32) {
    d.NoteEstimate(
        "oneDNN's own buffers of recurrent layers in a low precision are those that it takes on a "
        "processor with AVX512_BF16, where they are exact");
  }
  const bool train = d.grad_enabled() || op.boolean(kTrain);
  return d.CallMany("steelyard::lstm_layer", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                    op.arg(5), op.arg(6), op.arg(7), op.arg(8), op.arg(9), op.arg(10), op.arg(11),
                    op.arg(kHasBiases), op.arg(13), op.arg(14), train);
}

// --- mkldnn_rnn_layer_backward -------------------------------------------------------------------

// (input, weight1 to weight4, hx_, cx_tmp, output, hy_, cy_, grad_output, grad_hy, grad_cy,
// reverse, mode, hidden_size, num_layers, has_biases, train, ...)

// The gradients of input, states, weights and both biases, of which the second is a copy.
void LayerBackwardShape(const OpView& op, Outputs& out) {
  const DType dtype = SumsOf(op.self().dtype());
  const Layer layer = LayerOf(op);
  out.Add(dtype, op.self().sizes());
  out.Add(dtype, op.tensor(5).sizes());
  out.Add(dtype, op.tensor(6).sizes());
  out.Add(dtype, op.tensor(1).sizes());
  out.Add(dtype, op.tensor(2).sizes());
  for (int bias = 0; bias < 2; ++bias) out.Add(dtype, Dims{kGates * layer.hidden});
}

// A weight in rows as long as rows of states are, unless they are.
std::optional<Allocations::Scratch> PaddedWeight(std::int64_t size, const Layer& layer, DType dtype,
                                                 Allocations& memory) {
  if (IsLow(dtype)) {  // in blocks, of an even number of gates
    const Count rows = Count(kGates) * RoundUp(layer.hidden, 2);
    return Buffer(rows * RoundUp(size, kLowBlock), dtype, memory);
  }
  if (RowOf(size, dtype) == size) return std::nullopt;
  return Buffer(Count(kGates) * layer.hidden * RowOf(size, dtype), dtype, memory);
}
// The gradient of a weight before it is transposed.
Allocations::Scratch TransposedGradient(std::int64_t size, const Layer& layer, DType dtype,
                                        Allocations& memory) {
  const std::int64_t gates = kGates * layer.hidden;
  return Buffer(Count(size) * (size == 1 ? gates : RowOf(gates, dtype)), dtype, memory);
}

void LayerBackwardAllocations(const OpView& op, Allocations& memory) {
  const Layer layer = LayerOf(op);
  const DType dtype = op.self().dtype();
  const Allocations::Scratch bias = BiasSum(op, layer, memory);
  const int copy = op.output_count() - 1;
  for (int i = 0; i < copy; ++i) memory.Output(i, "aten::empty");
  const DType sums = SumsOf(dtype);
  Buffers arrived, buffers;
  for (const int grad : {16, 17, 18}) {  // of the output and of the states
    if (!IsLow(dtype)) break;
    arrived.emplace_back(
        memory.Allocate(allocations::Bytes(Count(op.tensor(grad).count()), sums), "aten::empty"));
  }
  for (const std::int64_t size : {layer.inputs, layer.hidden}) {
    buffers.push_back(PaddedWeight(size, layer, dtype, memory));
  }
  for (const std::int64_t size : {layer.inputs, layer.hidden}) {
    buffers.emplace_back(TransposedGradient(size, layer, sums, memory));
  }
  buffers.emplace_back(Buffer(Count(kGates) * layer.hidden, sums, memory));
  buffers.emplace_back(memory.Allocate(BackwardScratchBytes(layer, dtype), Allocations::kCaller));
  FreeLastFirst(buffers, memory);
  memory.Output(copy, "aten::empty_strided");
  FreeLastFirst(arrived, memory);
  memory.Free(bias, Allocations::kCaller);
}

// Each product of a step has two gradients.
Work LayerBackwardWork(const OpView& op) {
  const Layer layer = LayerOf(op);
  const Count cells = Count(layer.steps) * layer.batch * layer.hidden;
  return {.mac = cells * kGates * (Count(layer.inputs) + layer.hidden) * 2, .alu = cells * 24};
}

Tensor DenseOrZeros(Dispatcher& d, const Tensor& grad, const Tensor& like) {
  if (grad.defined()) return d.Call("aten::contiguous", grad);
  return d.Call("aten::zeros_like", like, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                kContiguousFormat);
}

std::vector<Tensor> RnnLayerBackward(Dispatcher& d, const OpView& op) {
  const Tensor grad_output = DenseOrZeros(d, d.tensor(op, 10), d.tensor(op, 7));
  const Tensor grad_hidden = DenseOrZeros(d, d.tensor(op, 11), d.tensor(op, 5));
  const Tensor grad_cells = DenseOrZeros(d, d.tensor(op, 12), d.tensor(op, 6));
  std::vector<Tensor> g =
      d.CallMany("steelyard::lstm_layer_backward", op.arg(0), op.arg(1), op.arg(2), op.arg(3),
                 op.arg(4), op.arg(5), op.arg(6), op.arg(13), op.arg(20), op.arg(14), op.arg(15),
                 op.arg(16), op.arg(17), op.arg(19), op.arg(21), op.arg(18), grad_output,
                 grad_hidden, grad_cells, op.arg(22), op.arg(7), op.arg(8), op.arg(9));
  return {g[0], g[3], g[4], g[5], g[6], g[1], g[2]};
}

// --- lstm.input ----------------------------------------------------------------------------------

// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)

// More layers than this can only come from a damaged file.
constexpr std::int64_t kMostLayers = 1024;

struct Stack {
  std::size_t layers = 1, directions = 1, weights = 4;
  bool projects = false;  // the hidden state is a product with one more weight
};

Stack StackOf(const OpView& op, const std::vector<Tensor>& states,
              const std::vector<Tensor>& weights) {
  const std::int64_t layers = op.integer(4);
  if (layers < 1 || layers > kMostLayers) Refuse(fmt::format("an LSTM of {} layers", layers));
  Stack stack{.layers = static_cast<std::size_t>(layers),
              .directions = op.boolean(7) ? std::size_t{2} : std::size_t{1},
              .weights = op.boolean(3) ? std::size_t{4} : std::size_t{2}};
  const std::size_t cells = stack.layers * stack.directions;
  stack.projects = states.size() == 2 && states[0].rank() == 3 && states[1].rank() == 3 &&
                   states[0].size(2) != states[1].size(2);
  if (stack.projects) ++stack.weights;
  if (states.size() != 2 || weights.size() != cells * stack.weights) {
    Refuse(fmt::format("{} states and {} weights for {} layers in {} directions", states.size(),
                       weights.size(), stack.layers, stack.directions));
  }
  for (const Tensor& state : states) {
    shape::RequireRank("the state", state.view(), 3);
    shape::RequireEqual("states and cells", state.size(0), static_cast<std::int64_t>(cells));
  }
  return stack;
}

// What no library computes runs step by step.
std::vector<Tensor> LstmBySteps(Dispatcher& d, const OpView& op, const std::vector<Tensor>& states,
                                const std::vector<Tensor>& params, const Stack& shape) {
  const Tensor input =
      op.boolean(8) ? d.Call("aten::transpose.int", d.tensor(op, 0), 0, 1) : d.tensor(op, 0);
  const bool biased = op.boolean(3);
  std::vector<recurrent::Weights> weights;
  for (std::size_t at = 0; at < params.size(); at += shape.weights) {
    weights.push_back({.input = params[at],
                       .state = params[at + 1],
                       .input_bias = biased ? params[at + 2] : Tensor(),
                       .state_bias = biased ? params[at + 3] : Tensor(),
                       .projection = shape.projects ? params[at + shape.weights - 1] : Tensor()});
  }
  const recurrent::Stack stack{.layers = shape.layers,
                               .directions = shape.directions,
                               .dropout = op.arg(5),
                               .drops = op.real(5) != 0.0 && op.boolean(6)};
  const std::vector<Tensor> h = d.CallMany("aten::unbind.int", states[0], 0),
                            c = d.CallMany("aten::unbind.int", states[1], 0);
  std::vector<recurrent::Hidden> first;
  first.reserve(h.size());
  for (std::size_t i = 0; i < h.size(); ++i) first.push_back({.h = h[i], .c = c[i]});
  recurrent::Sequence sequence =
      recurrent::Run(d, recurrent::LstmStep, input, std::move(first), weights, stack);
  std::vector<Tensor> last_h, last_c;
  for (recurrent::Hidden& hidden : sequence.last) {
    last_h.push_back(std::move(hidden.h));
    last_c.push_back(std::move(hidden.c));
  }
  const Tensor cells = d.Call("aten::stack", last_c, 0);
  const Tensor hidden = d.Call("aten::stack", last_h, 0);
  if (!op.boolean(8)) return {sequence.output, hidden, cells};
  return {d.Call("aten::transpose.int", sequence.output, 0, 1), hidden, cells};
}

std::vector<Tensor> Lstm(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> states = d.tensors(op, 1), weights = d.tensors(op, 2);
  const Stack stack = StackOf(op, states, weights);
  shape::RequireRank("the input", op.self(), 3);
  if (const auto results = RunInCudnn(d, op, CudnnCell::kLstm, states[0], states[1])) {
    return *results;
  }
  const DType dtype = op.self().dtype();
  const bool by_onednn =
      d.target().device == Device::kCpu &&
      (dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat16);
  if (!by_onednn || stack.projects || op.self().count() == 0) {
    return LstmBySteps(d, op, states, weights, stack);
  }
  const Tensor first =
      op.boolean(8) ? d.Call("aten::transpose.int", op.arg(0), 0, 1) : d.tensor(op, 0);
  const Tensor input = d.Call("aten::contiguous", first);
  const Tensor hidden = d.Call("aten::contiguous", states[0]),
               cells = d.Call("aten::contiguous", states[1]);
  Tensor layer_input = input;
  std::vector<Tensor> outputs(stack.directions), last_hidden, last_cells;
  for (std::size_t layer = 0; layer < stack.layers; ++layer) {
    for (std::size_t direction = 0; direction < stack.directions; ++direction) {
      const std::size_t cell = layer * stack.directions + direction;
      const Tensor* w = &weights[cell * stack.weights];
      const bool biased = stack.weights == 4;
      const Tensor initial_cells = d.Call("aten::select.int", cells, 0, cell);
      const Tensor initial_hidden = d.Call("aten::select.int", hidden, 0, cell);
      const Tensor second = biased ? w[3] : d.Call("aten::zeros", Dims(w[1].sizes()), w[1].dtype());
      const Tensor first_bias =
          biased ? w[2] : d.Call("aten::zeros", Dims(w[0].sizes()), w[0].dtype());
      std::vector<Tensor> results =
          d.CallMany("aten::mkldnn_rnn_layer", layer_input, w[0], w[1], first_bias, second,
                     initial_hidden, initial_cells, direction > 0, Dims(), 2, hidden.size(-1),
                     op.arg(4), op.arg(3), op.arg(7), false, false);
      outputs[direction] = std::move(results[0]);
      last_hidden.push_back(std::move(results[1]));
      last_cells.push_back(std::move(results[2]));
    }
    layer_input = stack.directions == 1 ? outputs[0] : d.Call("aten::cat", outputs, -1);
    const bool drops = op.real(5) != 0.0 && op.boolean(6) && layer + 1 < stack.layers;
    if (drops) layer_input = d.Call("aten::dropout", layer_input, op.arg(5), true);
  }
  const Tensor h = d.Call("aten::stack", last_hidden, 0), c = d.Call("aten::stack", last_cells, 0);
  return {op.boolean(8) ? d.Call("aten::transpose.int", layer_input, 0, 1) : layer_input, h, c};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef LayerKernel(OpName name, std::string_view summary, Signature signature,
                            std::string_view example, ShapeFn shape, AllocationsFn allocations,
                            WorkFn work) {
  return Kernel(Family::kContraction, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work, kNoGradient, precision::kFollow});
}

constexpr std::array kRows{
    CopyingOut(Casting(
        precision::kLowOnCpu,
        Composite(
            "aten::mkldnn_rnn_layer", "One layer and direction of an LSTM by oneDNN.",
            "(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
            "Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, "
            "int num_layers, bool has_biases, bool bidirectional, bool batch_first, bool train) "
            "-> (Tensor, Tensor, Tensor, Tensor)",
            "aten::mkldnn_rnn_layer(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], "
            "f32[2,20], f32[2,20], False, [], 2, 20, 1, True, False, False, False)",
            Family::kContraction, RnnLayer, precision::kFollow, gradients::kRnnLayer))),
    LayerKernel("steelyard::lstm_layer",
                "One layer and direction of an LSTM; with `train`, the workspace of its gradient.",
                "(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
                "Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int "
                "hidden_size, int num_layers, bool has_biases, bool bidirectional, bool "
                "batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
                "steelyard::lstm_layer(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], "
                "f32[2,20], f32[2,20], False, [], 2, 20, 1, True, False, False, True)",
                LayerShape, LayerAllocations, LayerWork),
    CopyingOut(Composite(
        "aten::mkldnn_rnn_layer_backward", "The gradients of one layer and direction of an LSTM.",
        "(Tensor input, Tensor weight1, Tensor weight2, Tensor weight3, Tensor weight4, "
        "Tensor hx_, Tensor cx_tmp, Tensor output, Tensor hy_, Tensor cy_, Tensor? "
        "grad_output, Tensor? grad_hy, Tensor? grad_cy, bool reverse, int mode, int "
        "hidden_size, int num_layers, bool has_biases, bool train, bool bidirectional, int[] "
        "batch_sizes, bool batch_first, Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, "
        "Tensor, Tensor, Tensor)",
        "aten::mkldnn_rnn_layer_backward(f32[5,2,30], f32[80,30], f32[80,20], f32[80], "
        "f32[80], f32[2,20], f32[2,20], f32[5,2,20], f32[2,20], f32[2,20], f32[5,2,20], None, "
        "None, False, 2, 20, 1, True, True, False, [], False, u8[28672])",
        Family::kContraction, RnnLayerBackward, precision::kFollow, kGradientUnknown)),
    LayerKernel(
        "steelyard::lstm_layer_backward",
        "The gradients of one layer and direction of an LSTM, by oneDNN.",
        "(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, "
        "Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int "
        "hidden_size, int num_layers, bool has_biases, bool bidirectional, bool "
        "batch_first, bool train, Tensor grad_output, Tensor grad_hy, Tensor grad_cy, "
        "Tensor workspace, Tensor output, Tensor hy_, Tensor cy_) -> (Tensor, Tensor, Tensor, "
        "Tensor, Tensor, Tensor, Tensor)",
        "steelyard::lstm_layer_backward(f32[5,2,30], f32[80,30], f32[80,20], f32[80], "
        "f32[80], f32[2,20], f32[2,20], False, [], 2, 20, 1, True, False, False, True, "
        "f32[5,2,20], f32[2,20], f32[2,20], u8[28672], f32[5,2,20], f32[2,20], f32[2,20])",
        LayerBackwardShape, LayerBackwardAllocations, LayerBackwardWork),
    Composite(
        "aten::lstm.input", "Long short-term memory over a sequence.",
        "(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
        "aten::lstm.input(f32[2,5,30], [f32[1,2,20],f32[1,2,20]], "
        "[f32[80,30],f32[80,20],f32[80],f32[80]], True, 1, 0.0, False, False, True)",
        Family::kContraction, Lstm, precision::kFollow),
};

}  // namespace

std::span<const OpDef> Recurrent() { return kRows; }

}  // namespace steelyard::ops
