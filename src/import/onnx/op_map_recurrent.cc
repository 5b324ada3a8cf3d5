// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers. ONNX keeps the weights of all directions in one tensor and orders gates in its
// own way; the first makes views, the second changes no cost.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

constexpr std::int64_t kLstmGates = 4, kGruGates = 3, kRnnGates = 1;

struct Layer {
  std::int64_t directions = 1;
  std::int64_t hidden = 0;
  bool reverse = false;
  bool batch_first = false;
  Dim steps = Dim(0), batch = Dim(0);
};

Layer LayerOf(Call& call) {
  Layer out;
  const std::string direction = call.text("direction", "forward");
  const Shape &x = call.shape(0), &recurrence = call.shape(2);
  if (x.size() != 3 || recurrence.size() != 3 || !recurrence[2].is_number()) {
    Call::GiveUp("operands of another rank");
  }
  out.directions = direction == "bidirectional" ? 2 : 1;
  out.reverse = direction == "reverse";
  out.hidden = recurrence[2].number();
  out.batch_first = call.integer("layout", 0) == 1;
  out.steps = x[out.batch_first ? 1 : 0];
  out.batch = x[out.batch_first ? 0 : 1];
  if (call.attribute("clip")) Call::GiveUp("gates that are clipped");
  if (call.has(4)) {
    call.workshop().builder.Note("sequences of different length are weighed as of the longest");
  }
  return out;
}

// Operand `i`, [directions, rows, columns], as matrices; a vector of two biases as two.
std::vector<Tensor> WeightsOf(Call& call, const Layer& layer, std::int64_t gates) {
  std::vector<Tensor> out;
  const std::int64_t rows = gates * layer.hidden;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    out.push_back(call.Emit("aten::select.int", call.tensor(1), 0, d));
    out.push_back(call.Emit("aten::select.int", call.tensor(2), 0, d));
    if (!call.has(3)) continue;
    const Tensor biases = call.Emit("aten::select.int", call.tensor(3), 0, d);
    out.push_back(call.Emit("aten::slice.Tensor", biases, 0, 0, rows));
    out.push_back(call.Emit("aten::slice.Tensor", biases, 0, rows, 2 * rows));
  }
  return out;
}

// The first state, [directions, batch, hidden]; zeros where it is left out.
Tensor StateOf(Call& call, std::size_t operand, const Layer& layer) {
  if (!call.has(operand)) {
    return call.Emit("aten::zeros", Builder::Shape{layer.directions, layer.batch, layer.hidden},
                     Builder::Named("dtype", call.dtype(0)));
  }
  const Tensor state = call.tensor(operand);
  return layer.batch_first ? call.Emit("aten::transpose.int", state, 0, 1) : state;
}

// [steps, batch, directions * hidden] with directions before the batch, and states.
void GiveSteps(Call& call, const Layer& layer, const std::vector<Tensor>& out) {
  const Dim directions(layer.directions), hidden(layer.hidden);
  const DType dtype = call.dtype(0);
  Tensor steps = out[0];
  if (layer.reverse && !call.has(7))
    steps = call.Emit("aten::flip", steps, Builder::Shape{layer.batch_first ? 1 : 0});
  if (!steps.defined()) {
    call.GiveNothing();
  } else if (layer.batch_first) {
    const Shape to{layer.batch, layer.steps, directions, hidden};
    call.Give(call.Emit("aten::reshape", steps, ToSizes(to)), {dtype, to});
  } else {
    const Tensor apart = call.Emit("aten::reshape", steps,
                                   Builder::Shape{layer.steps, layer.batch, directions, hidden});
    call.Give(call.Emit("aten::permute", apart, Builder::Shape{0, 2, 1, 3}),
              {dtype, {layer.steps, directions, layer.batch, hidden}});
  }
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (layer.batch_first) {
      call.Give(call.Emit("aten::transpose.int", out[i], 0, 1),
                {dtype, {layer.batch, directions, hidden}});
    } else {
      call.Give(out[i], {dtype, {directions, layer.batch, hidden}});
    }
  }
}

Tensor InputOf(Call& call, const Layer& layer) {
  if (!layer.reverse) return call.tensor(0);
  return call.Emit("aten::flip", call.tensor(0), Builder::Shape{layer.batch_first ? 1 : 0});
}

void RequireActivations(Call& call, std::string_view first) {
  const auto written = call.attribute("activations");
  if (written && !written->texts.empty() && written->texts.front() != first) {
    Call::GiveUp("activation " + std::string(written->texts.front()));
  }
}

// --- Gates that look at the cell ----------------------------------------------------------------

// Longer sequences are not taken apart step by step.
constexpr std::int64_t kMostSteps = 256;

struct Run {
  std::vector<Tensor> steps = {};
  Tensor hidden = {}, cell = {};
};

// Entry `direction` of operand `i`, and of a vector its part `from` of so many.
Tensor EntryOf(Call& call, std::size_t operand, std::int64_t direction) {
  return call.Emit("aten::select.int", call.tensor(operand), 0, direction);
}

// One direction, step by step as a Python loop does; PyTorch's own layer has no such gates. Gates
// are in, out, forget and the cell's; they look at it by weights of in, out and forget.
Run RunOf(Call& call, const Layer& layer, Tensor x, std::int64_t direction, Run state) {
  const std::vector<Tensor> looks =
      call.EmitMany("aten::chunk", 3, EntryOf(call, 7, direction), 3, 0);
  std::vector<Tensor> biases(2);
  if (call.has(3)) biases = call.EmitMany("aten::chunk", 2, EntryOf(call, 3, direction), 2, 0);
  const Tensor projected = call.Emit("aten::linear", x, EntryOf(call, 1, direction), biases[0]);
  const bool backward = layer.reverse || direction == 1;
  const std::int64_t count = layer.steps.number();
  const auto look = [&](Tensor gate, std::size_t at) {
    const Tensor seen = call.Emit("aten::mul.Tensor", looks[at], state.cell);
    return call.Emit("aten::sigmoid", call.Emit("aten::add.Tensor", gate, seen));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t step = backward ? count - 1 - i : i;
    const Tensor again =
        call.Emit("aten::linear", state.hidden, EntryOf(call, 2, direction), biases[1]);
    const Tensor sum =
        call.Emit("aten::add.Tensor", call.Emit("aten::select.int", projected, 0, step), again);
    const std::vector<Tensor> gates = call.EmitMany("aten::chunk", 4, sum, 4, -1);
    const Tensor in = look(gates[0], 0), forget = look(gates[2], 2);
    state.cell = call.Emit("aten::add.Tensor", call.Emit("aten::mul.Tensor", forget, state.cell),
                           call.Emit("aten::mul.Tensor", in, call.Emit("aten::tanh", gates[3])));
    state.hidden =
        call.Emit("aten::mul.Tensor", look(gates[1], 1), call.Emit("aten::tanh", state.cell));
    state.steps.push_back(state.hidden);
  }
  if (backward) std::ranges::reverse(state.steps);
  return state;
}

void GiveLookingLstm(Call& call, const Layer& layer) {
  if (!layer.steps.is_number() || layer.steps.number() > kMostSteps || layer.steps == Dim(0)) {
    Call::GiveUp("peepholes over more than 256 steps, none, or a symbolic number");
  }
  Tensor x = call.tensor(0);
  if (layer.batch_first) x = call.Emit("aten::transpose.int", x, 0, 1);
  const Tensor hidden = StateOf(call, 5, layer), cell = StateOf(call, 6, layer);
  std::vector<Tensor> steps, ends, cells;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    const Run run = RunOf(call, layer, x, d,
                          {.hidden = call.Emit("aten::select.int", hidden, 0, d),
                           .cell = call.Emit("aten::select.int", cell, 0, d)});
    if (call.wants(0)) steps.push_back(call.Emit("aten::stack", run.steps, 0));
    ends.push_back(run.hidden);
    cells.push_back(run.cell);
  }
  // As PyTorch's own layer gives them.
  Tensor all;
  if (call.wants(0)) {
    all = call.Emit("aten::cat", steps, -1);
    if (layer.batch_first) all = call.Emit("aten::transpose.int", all, 0, 1);
  }
  GiveSteps(call, layer,
            {all, call.Emit("aten::stack", ends, 0), call.Emit("aten::stack", cells, 0)});
}

void Lstm(Call& call) {
  const Layer layer = LayerOf(call);
  RequireActivations(call, "Sigmoid");
  if (call.has(7)) return GiveLookingLstm(call, layer);
  const std::vector<Tensor> state{StateOf(call, 5, layer), StateOf(call, 6, layer)};
  const std::vector<Tensor> out = call.EmitMany(
      "aten::lstm.input", 3, InputOf(call, layer), state, WeightsOf(call, layer, kLstmGates),
      call.has(3), 1, 0.0, false, layer.directions == 2, layer.batch_first);
  GiveSteps(call, layer, out);
}

void Network(Call& call, std::string_view op, std::int64_t gates) {
  const Layer layer = LayerOf(call);
  const std::vector<Tensor> out = call.EmitMany(
      op, 2, InputOf(call, layer), StateOf(call, 5, layer), WeightsOf(call, layer, gates),
      call.has(3), 1, 0.0, false, layer.directions == 2, layer.batch_first);
  GiveSteps(call, layer, out);
}

void Gru(Call& call) {
  RequireActivations(call, "Sigmoid");
  Network(call, "aten::gru.input", kGruGates);
}

void Rnn(Call& call) {
  const auto written = call.attribute("activations");
  const bool relu = written && !written->texts.empty() && written->texts.front() == "Relu";
  if (!relu) RequireActivations(call, "Tanh");
  Network(call, relu ? "aten::rnn_relu.input" : "aten::rnn_tanh.input", kRnnGates);
}

constexpr std::array kRows{
    OpRow{"GRU", 7, Gru},
    OpRow{"LSTM", 7, Lstm},
    OpRow{"RNN", 7, Rnn},
};

}  // namespace

std::span<const OpRow> RecurrentRows() { return kRows; }

}  // namespace steelyard::onnx
