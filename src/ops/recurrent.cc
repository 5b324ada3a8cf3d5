// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks. An LSTM runs layer by layer and direction by direction in oneDNN
// (ATen/native/mkldnn/RNN.cpp), whose private buffers were measured as those of convolutions
// (rules/onednn.h).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ops/dispatcher.h"
#include "ops/recurrent_cells.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"

namespace steelyard::ops {
namespace {

constexpr std::int64_t kGates = 4;  // of an LSTM: input, forget, cell, output

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
    shape::RequireRank("the bias", op.tensor(bias), 1);
    shape::RequireEqual("elements of the bias and four gates", op.tensor(bias).size(0),
                        op.tensor(1).size(0));
  }
  product::RequireSameDType(input, op.tensor(1));
  out.Add(input.dtype(), Dims{layer.steps, layer.batch, layer.hidden});
  out.Add(input.dtype(), Dims{layer.batch, layer.hidden});
  out.Add(input.dtype(), Dims{layer.batch, layer.hidden});
  // The fourth, a workspace that only a gradient needs, is None.
}

// Gates are filled up to blocks of this many elements (measured).
constexpr std::int64_t kGateBlock = 32;
// Rows of states take whole cache lines of 16 floats, and one more where they would be a multiple
// of 1 KiB apart, which caches map to the same place (measured).
constexpr std::int64_t kLine = 16;
constexpr std::int64_t kClash = 256;
constexpr std::int64_t kPage = 4096;
// What the scratchpad needs besides its pages (measured).
constexpr std::int64_t kScratchTail = 776;

std::int64_t RoundUp(std::int64_t n, std::int64_t block) { return (n + block - 1) / block * block; }

std::int64_t RowOfStates(std::int64_t size) {
  const std::int64_t lines = RoundUp(size, kLine);
  return lines % kClash == 0 ? lines + kLine : lines;
}

std::int64_t Pages(Count elements, DType dtype) {
  return RoundUp(allocations::Bytes(elements, dtype), kPage);
}

// States and cells of all steps before and after, the gates of a step, a state and the bias, each
// in whole pages; up to a page too little where sizes coincide.
std::int64_t ScratchBytes(const Layer& layer, DType dtype) {
  const Count rows = Count(2) * layer.batch * (Count(layer.steps) + 1);
  return Pages(rows * RowOfStates(std::max(layer.inputs, layer.hidden)), dtype) +
         Pages(rows * layer.hidden, dtype) +
         Pages(Count(kGates) * layer.batch * layer.hidden, dtype) +
         Pages(Count(layer.batch) * RowOfStates(layer.hidden), dtype) +
         Pages(Count(kGates) * layer.hidden, dtype) + kScratchTail;
}

void LayerAllocations(const OpView& op, Allocations& memory) {
  const Layer layer = LayerOf(op);
  const DType dtype = op.self().dtype();
  allocations::Via<"aten::empty">(op, memory);
  const Count columns = Count(kGates) * RoundUp(layer.hidden, kGateBlock);
  const std::array buffers{memory.Allocate(allocations::Bytes(Count(kGates) * layer.hidden, dtype),
                                           "aten::add"),  // both biases
                           memory.Allocate(allocations::Bytes(columns * layer.inputs, dtype)),
                           memory.Allocate(allocations::Bytes(columns * layer.hidden, dtype)),
                           memory.Allocate(ScratchBytes(layer, dtype))};
  for (std::size_t i = buffers.size(); i-- > 0;) memory.Free(buffers[i]);
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

// --- lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
// batch_first)
// ---------------------------------------------------------------------------------------

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
  const DType dtype = op.self().dtype();
  const bool by_onednn =
      dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat16;
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
      std::vector<Tensor> results = d.CallMany(
          "aten::mkldnn_rnn_layer", layer_input, w[0], w[1], w[biased ? 2 : 0], w[biased ? 3 : 1],
          d.Call("aten::select.int", hidden, 0, cell), d.Call("aten::select.int", cells, 0, cell),
          direction > 0, Dims(), 2, hidden.size(-1), op.arg(4), op.arg(3), op.arg(7), false, false);
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

// --- Rows
// -----------------------------------------------------------------------------------------

constexpr std::array kRows{
    OpDef{
        .name = "aten::mkldnn_rnn_layer",
        .summary = "One layer and direction of an LSTM by oneDNN.",
        .signature = "(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor "
                     "weight3, Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, "
                     "int hidden_size, int num_layers, bool has_biases, bool bidirectional, bool "
                     "batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
        .example = "aten::mkldnn_rnn_layer(f32[5,2,30], f32[80,30], f32[80,20], f32[80], f32[80], "
                   "f32[2,20], f32[2,20], False, [], 2, 20, 1, True, False, False, False)",
        .family = Family::kContraction,
        .shape = LayerShape,
        .alias = Alias::kNone,
        .decompose = kIsKernel,
        .allocations = LayerAllocations,
        .work = LayerWork,
        .traffic = traffic::ReadAllWriteAll,
        .grad = kGradientUnknown},
    Composite(
        "aten::lstm.input", "Long short-term memory over a sequence.",
        "(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
        "aten::lstm.input(f32[2,5,30], [f32[1,2,20],f32[1,2,20]], "
        "[f32[80,30],f32[80,20],f32[80],f32[80]], True, 1, 0.0, False, False, True)",
        Family::kContraction, Lstm),
};

}  // namespace

std::span<const OpDef> Recurrent() { return kRows; }

}  // namespace steelyard::ops
