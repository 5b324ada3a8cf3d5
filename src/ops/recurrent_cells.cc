// SPDX-License-Identifier: Apache-2.0
//
// The input's product is computed for a whole sequence before its first step, the state's at each
// step, and gates overwrite what these gave. Both directions run one after the other and are joined
// (ATen/native/RNN.cpp, FullLayer and FullBidirectionalLayer). A cell that is called for one step
// makes both products itself. On CUDA every step makes both, and one kernel computes the gates
// (recurrent_fused.cc).

#include "ops/recurrent_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ops/cudnn_recurrent.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"

namespace steelyard {
namespace recurrent {
namespace {

Tensor InputProduct(Dispatcher& d, const Tensor& input, const Weights& w) {
  return d.Call("aten::linear", input, w.input, w.input_bias);
}
Tensor InputProduct(Dispatcher& d, const StepInput& input, const Weights& w) {
  return input.is_product ? input.tensor : InputProduct(d, input.tensor, w);
}
Tensor StateProduct(Dispatcher& d, const Tensor& state, const Weights& w) {
  return d.Call("aten::linear", state, w.state, w.state_bias);
}

std::vector<Tensor> Chunks(Dispatcher& d, const Tensor& gates, int count) {
  return d.CallMany("aten::unsafe_chunk", gates, count, 1);
}

// The products without biases, which the kernel adds.
struct Products {
  Tensor input, state;
};
Products ProductsOf(Dispatcher& d, const StepInput& input, const Hidden& hidden, const Weights& w) {
  Products out;
  out.input = d.Call("aten::matmul", input.tensor, d.Call("aten::t", w.input));
  out.state = d.Call("aten::matmul", hidden.h, d.Call("aten::t", w.state));
  return out;
}

Hidden GruStepOnCuda(Dispatcher& d, const StepInput& input, const Hidden& hidden,
                     const Weights& w) {
  const Products products = ProductsOf(d, input, hidden, w);
  std::vector<Tensor> results = d.CallMany("aten::_thnn_fused_gru_cell", products.input,
                                           products.state, hidden.h, w.input_bias, w.state_bias);
  return {.h = std::move(results[0]), .c = {}};
}

Hidden LstmStepOnCuda(Dispatcher& d, const StepInput& input, const Hidden& hidden,
                      const Weights& w) {
  const Products products = ProductsOf(d, input, hidden, w);
  std::vector<Tensor> results = d.CallMany("aten::_thnn_fused_lstm_cell", products.input,
                                           products.state, hidden.c, w.input_bias, w.state_bias);
  if (!w.projection.defined()) return {.h = std::move(results[0]), .c = std::move(results[1])};
  return {.h = d.Call("aten::matmul", results[0], d.Call("aten::t", w.projection)),
          .c = std::move(results[1])};
}

Hidden GruStep(Dispatcher& d, const StepInput& input, const Hidden& hidden, const Weights& w) {
  if (d.target().device == Device::kCuda) return GruStepOnCuda(d, input, hidden, w);
  const std::vector<Tensor> of_input = Chunks(d, InputProduct(d, input, w), 3);
  const std::vector<Tensor> of_state = Chunks(d, StateProduct(d, hidden.h, w), 3);
  for (const std::size_t gate : {std::size_t{0}, std::size_t{1}}) {
    d.Call("aten::add_.Tensor", of_state[gate], of_input[gate]);
    d.Call("aten::sigmoid_", of_state[gate]);
  }
  d.Call("aten::mul_.Tensor", of_state[2], of_state[0]);
  const Tensor fresh = d.Call("aten::add.Tensor", of_input[2], of_state[2]);
  d.Call("aten::tanh_", fresh);
  Hidden out{.h = d.Call("aten::sub.Tensor", hidden.h, fresh), .c = {}};
  d.Call("aten::mul_.Tensor", out.h, of_state[1]);
  d.Call("aten::add_.Tensor", out.h, fresh);
  return out;
}

template <Label kFunction>
Hidden SimpleStep(Dispatcher& d, const StepInput& input, const Hidden& hidden, const Weights& w) {
  const Tensor sum = StateProduct(d, hidden.h, w);
  const Tensor product = InputProduct(d, input, w);
  d.Call("aten::add_.Tensor", sum, product);
  return {.h = d.Call(kOpNamed<kFunction>, sum), .c = {}};
}

// --- Layers -------------------------------------------------------------------------------------

struct Steps {
  std::vector<Tensor> outputs;
  Hidden last;
};

// What the steps are given: of the sequence or, where they are made at once, of its products.
std::vector<StepInput> InputsOfSteps(Dispatcher& d, const Tensor& sequence, bool products) {
  std::vector<StepInput> out;
  for (Tensor& step : d.CallMany("aten::unbind.int", sequence, 0)) {
    out.push_back({.tensor = std::move(step), .is_product = products});
  }
  return out;
}

Steps RunSteps(Dispatcher& d, Cell cell, const std::vector<StepInput>& inputs, const Hidden& first,
               const Weights& w) {
  Steps out{.outputs = {}, .last = first};
  for (const StepInput& input : inputs) {
    out.last = cell(d, input, out.last, w);
    out.outputs.push_back(out.last.h);
  }
  if (out.outputs.empty()) Refuse("a sequence has one step or more");
  return out;
}

struct Layer {
  Tensor output;
  std::vector<Hidden> last;
};

Layer RunForward(Dispatcher& d, Cell cell, const Tensor& input, const Hidden& first,
                 const Weights& w) {
  const bool products = d.target().device != Device::kCuda;
  const Tensor sequence = products ? InputProduct(d, input, w) : input;
  const Steps steps = RunSteps(d, cell, InputsOfSteps(d, sequence, products), first, w);
  return {.output = d.Call("aten::stack", steps.outputs, 0), .last = {steps.last}};
}

Layer RunBothWays(Dispatcher& d, Cell cell, const Tensor& input, std::span<const Hidden> first,
                  std::span<const Weights> w) {
  const bool products = d.target().device != Device::kCuda;
  Tensor sequence = products ? InputProduct(d, input, w[0]) : input;
  std::vector<StepInput> inputs = InputsOfSteps(d, sequence, products);
  Steps there = RunSteps(d, cell, inputs, first[0], w[0]);
  const Tensor there_output = d.Call("aten::stack", there.outputs, 0);
  if (products) {
    sequence = InputProduct(d, input, w[1]);
    inputs = InputsOfSteps(d, sequence, products);
  }
  std::vector<StepInput> reversed = std::move(inputs);
  std::ranges::reverse(reversed);
  Steps back = RunSteps(d, cell, reversed, first[1], w[1]);
  std::ranges::reverse(back.outputs);
  const Tensor back_output = d.Call("aten::stack", back.outputs, 0);
  Layer out;
  out.output = d.Call("aten::cat", std::vector<Tensor>{there_output, back_output}, -1);
  out.last.push_back(std::move(there.last));
  out.last.push_back(std::move(back.last));
  return out;
}

}  // namespace

Hidden LstmStep(Dispatcher& d, const StepInput& input, const Hidden& hidden, const Weights& w) {
  if (d.target().device == Device::kCuda) return LstmStepOnCuda(d, input, hidden, w);
  const Tensor gates = StateProduct(d, hidden.h, w);
  d.Call("aten::add_.Tensor", gates, InputProduct(d, input, w));
  const std::vector<Tensor> gate = Chunks(d, gates, 4);
  d.Call("aten::sigmoid_", gate[0]);
  d.Call("aten::sigmoid_", gate[1]);
  d.Call("aten::tanh_", gate[2]);
  d.Call("aten::sigmoid_", gate[3]);
  Hidden out;
  out.c = d.Call("aten::mul.Tensor", gate[1], hidden.c);
  d.Call("aten::add_.Tensor", out.c, d.Call("aten::mul.Tensor", gate[0], gate[2]));
  out.h = d.Call("aten::mul.Tensor", gate[3], d.Call("aten::tanh", out.c));
  if (w.projection.defined()) {
    out.h = d.Call("aten::matmul", out.h, d.Call("aten::t", w.projection));
  }
  return out;
}

Sequence Run(Dispatcher& d, Cell cell, const Tensor& input, std::vector<Hidden> first,
             const std::vector<Weights>& weights, const Stack& stack) {
  Tensor layer_input = input;
  Sequence out;
  for (std::size_t i = 0; i < stack.layers; ++i) {
    const std::size_t at = i * stack.directions;
    const Layer layer = stack.directions == 1
                            ? RunForward(d, cell, layer_input, first[at], weights[at])
                            : RunBothWays(d, cell, layer_input, {&first[at], 2}, {&weights[at], 2});
    out.last.insert(out.last.end(), layer.last.begin(), layer.last.end());
    layer_input = layer.output;
    if (stack.drops && i + 1 < stack.layers) {
      layer_input = d.Call("aten::dropout", layer_input, stack.dropout, true);
    }
  }
  out.output = std::move(layer_input);
  return out;
}

}  // namespace recurrent

namespace ops {
namespace {

using recurrent::Hidden;
using recurrent::Weights;

// More layers than this can only come from a damaged file.
constexpr std::int64_t kMostLayers = 1024;

// Of cells that have `each` parameters: two weights of `rows` rows and, where there are more,
// biases.
std::vector<Weights> WeightsOfCells(const std::vector<Tensor>& params, std::size_t each,
                                    std::int64_t rows) {
  std::vector<Weights> weights(params.size() / each);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor* w = &params[i * each];
    weights[i] = {
        .input = w[0], .state = w[1], .input_bias = {}, .state_bias = {}, .projection = {}};
    if (each == 4) {
      weights[i].input_bias = w[2];
      weights[i].state_bias = w[3];
    }
    for (int k : {0, 1}) {
      shape::RequireRank("a weight", w[k].view(), 2);
      shape::RequireEqual("rows of a weight and its gates", w[k].size(0), rows);
    }
  }
  return weights;
}

// input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
template <recurrent::Cell kCell, int kGates, CudnnCell kCudnn>
std::vector<Tensor> OverSequence(Dispatcher& d, const OpView& op) {
  const std::int64_t layers = op.integer(4);
  if (layers < 1 || layers > kMostLayers) Refuse(fmt::format("a network of {} layers", layers));
  shape::RequireRank("the input", op.self(), 3);
  shape::RequireRank("the state", op.tensor(1), 3);
  if (auto results = RunInCudnn(d, op, kCudnn, d.tensor(op, 1), {})) return *results;
  const bool batch_first = op.boolean(8);
  const Tensor input =
      batch_first ? d.Call("aten::transpose.int", d.tensor(op, 0), 0, 1) : d.tensor(op, 0);
  const recurrent::Stack stack{.layers = static_cast<std::size_t>(layers),
                               .directions = op.boolean(7) ? std::size_t{2} : std::size_t{1},
                               .dropout = op.arg(5),
                               .drops = op.real(5) != 0 && op.boolean(6)};
  const std::size_t cells = stack.layers * stack.directions;
  const std::vector<Tensor> params = d.tensors(op, 2);
  const std::size_t each = op.boolean(3) ? 4 : 2;
  if (params.size() != cells * each || op.tensor(1).size(0) != static_cast<std::int64_t>(cells)) {
    Refuse(fmt::format("{} states and {} weights for {} layers in {} directions",
                       op.tensor(1).size(0), params.size(), stack.layers, stack.directions));
  }
  const std::vector<Weights> weights =
      WeightsOfCells(params, each, (Count(kGates) * op.tensor(1).size(2)).value());
  recurrent::Sequence sequence = [&] {
    std::vector<Hidden> first;
    for (Tensor& state : d.CallMany("aten::unbind.int", d.tensor(op, 1), 0)) {
      first.push_back({.h = std::move(state), .c = {}});
    }
    return recurrent::Run(d, kCell, input, std::move(first), weights, stack);
  }();
  Tensor last;
  {
    std::vector<Tensor> hidden;
    hidden.reserve(sequence.last.size());
    for (Hidden& h : sequence.last) hidden.push_back(std::move(h.h));
    last = d.Call("aten::stack", hidden, 0);
  }
  if (!batch_first) return {std::move(sequence.output), last};
  return {d.Call("aten::transpose_", sequence.output, 0, 1), last};
}

// --- One step: input, hx, w_ih, w_hh, b_ih, b_hh -------------------------------------------------

Weights WeightsOf(Dispatcher& d, const OpView& op) {
  for (int i : {2, 3}) shape::RequireRank("a weight", op.tensor(i), 2);
  return {.input = d.tensor(op, 2),
          .state = d.tensor(op, 3),
          .input_bias = d.tensor(op, 4),
          .state_bias = d.tensor(op, 5),
          .projection = {}};
}

// What check_rnn_cell_forward_input and check_rnn_cell_forward_hidden refuse.
void RequireStep(const OpView& op, const TensorView& hidden, int gates) {
  const TensorView input = op.self();
  shape::RequireRank("the input", input, 2);
  shape::RequireRank("the state", hidden, 2);
  shape::RequireEqual("batch sizes", hidden.size(0), input.size(0));
  shape::RequireRank("the state's weight", op.tensor(3), 2);
  shape::RequireEqual("rows of the state's weight and its gates", op.tensor(3).size(0),
                      (Count(gates) * op.tensor(3).size(1)).value());
}

template <recurrent::Cell kCell, int kGates>
std::vector<Tensor> OneStep(Dispatcher& d, const OpView& op) {
  RequireStep(op, op.tensor(1), kGates);
  const Hidden hidden{.h = d.tensor(op, 1), .c = {}};
  return {kCell(d, {.tensor = d.tensor(op, 0)}, hidden, WeightsOf(d, op)).h};
}

std::vector<Tensor> OneLstmStep(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> states = d.tensors(op, 1);
  if (states.size() != 2) Refuse("an LSTM has two states");
  for (const Tensor& state : states) RequireStep(op, state.view(), 4);
  Hidden out = recurrent::LstmStep(d, {.tensor = d.tensor(op, 0)}, {.h = states[0], .c = states[1]},
                                   WeightsOf(d, op));
  return {std::move(out.h), std::move(out.c)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Network(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kContraction, words, decompose);
}

constexpr std::array kRows{
    Network({"aten::gru.input", "Gated recurrent units over a sequence.",
             "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
             "aten::gru.input(f32[5,2,8], f32[1,2,6], [f32[18,8],f32[18,6],f32[18],f32[18]], True, "
             "1, 0.0, False, False, False)"},
            OverSequence<recurrent::GruStep, 3, CudnnCell::kGru>),
    Network({"aten::rnn_tanh.input", "Hyperbolic tangents of sums over a sequence.",
             "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
             "aten::rnn_tanh.input(f32[2,5,8], f32[1,2,6], [f32[6,8],f32[6,6],f32[6],f32[6]], "
             "True, 1, 0.0, False, False, True)"},
            OverSequence<recurrent::SimpleStep<"aten::tanh">, 1, CudnnCell::kTanh>),
    Network({"aten::rnn_relu.input", "Rectified sums over a sequence, in both directions.",
             "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
             "aten::rnn_relu.input(f32[5,2,8], f32[2,2,6], "
             "[f32[6,8],f32[6,6],f32[6,8],f32[6,6]], False, 1, 0.0, False, True, False)"},
            OverSequence<recurrent::SimpleStep<"aten::relu">, 1, CudnnCell::kRelu>),
    Casting(
        precision::kLowOnCuda,
        Network({"aten::lstm_cell", "A step of long short-term memory.",
                 "(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
                 "b_hh=None) -> (Tensor, Tensor)",
                 "aten::lstm_cell(f32[2,8], [f32[2,6],f32[2,6]], f32[24,8], f32[24,6], f32[24], "
                 "f32[24])"},
                OneLstmStep)),
    Casting(
        precision::kLowOnCuda,
        Network({"aten::gru_cell", "A step of gated recurrent units.",
                 "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
                 "b_hh=None) -> Tensor",
                 "aten::gru_cell(f32[2,8], f32[2,6], f32[18,8], f32[18,6], f32[18], f32[18])"},
                OneStep<recurrent::GruStep, 3>)),
    Casting(
        precision::kLowOnCuda,
        Network({"aten::rnn_tanh_cell", "The hyperbolic tangent of a step's sum.",
                 "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
                 "b_hh=None) -> Tensor",
                 "aten::rnn_tanh_cell(f32[2,8], f32[2,6], f32[6,8], f32[6,6], f32[6], f32[6])"},
                OneStep<recurrent::SimpleStep<"aten::tanh">, 1>)),
    Casting(
        precision::kLowOnCuda,
        Network({"aten::rnn_relu_cell", "A step's sum, rectified.",
                 "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
                 "b_hh=None) -> Tensor",
                 "aten::rnn_relu_cell(f32[2,8], f32[2,6], f32[6,8], f32[6,6])"},
                OneStep<recurrent::SimpleStep<"aten::relu">, 1>)),
};

}  // namespace

std::span<const OpDef> RecurrentCells() { return kRows; }

}  // namespace ops
}  // namespace steelyard
