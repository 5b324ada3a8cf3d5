// SPDX-License-Identifier: Apache-2.0
//
// ATen gives cuDNN the whole network in one call, with all weights in one buffer, which has room
// for biases whether there are any or not. What is given in another order or layout is copied
// first.
#include "ops/cudnn_recurrent.h"

#include <algorithm>
#include <array>

#include "ops/gradients/cudnn_recurrent.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- The kernel: input [time, batch, size], weight, hx, cx, mode, hidden_size, proj_size,
// num_layers, train, bidirectional, flat -> output, hy, cy, reserve, weight_buf -------------------

struct Network {
  std::int64_t time = 0, batch = 0, inputs = 0, hidden = 0, state = 0, layers = 0, directions = 1;
  CudnnCell cell = CudnnCell::kTanh;
  std::int64_t gates() const {
    return cell == CudnnCell::kLstm ? 4 : cell == CudnnCell::kGru ? 3 : 1;
  }
};

Network NetworkOf(const OpView& op) {
  const std::int64_t mode = op.integer(4);
  if (mode < 0 || mode > 3) Refuse("cuDNN has four kinds of recurrent networks");
  const TensorView input = op.self();
  shape::RequireRank("the input", input, 3);
  const std::int64_t hidden = op.integer(5), projected = op.integer(6);
  return {.time = input.size(0),
          .batch = input.size(1),
          .inputs = input.size(2),
          .hidden = hidden,
          .state = projected > 0 ? projected : hidden,
          .layers = op.integer(7),
          .directions = op.boolean(9) ? 2 : 1,
          .cell = static_cast<CudnnCell>(mode)};
}

// Elements of the weights in one buffer, which has biases in any case.
// What the first layer's inputs and all others' are together: these are both directions' states.
Count InputsOf(const Network& n) {
  return n.layers > 0 ? n.inputs + Count(n.layers - 1) * n.state * n.directions : Count(0);
}

// With so many numbers of a gate that nothing is multiplied by.
Count WeightsOf(const Network& n, int biases = 2) {
  Count all = Count(n.gates()) * n.hidden * (InputsOf(n) + (Count(n.state) + biases) * n.layers);
  if (n.state != n.hidden) all += Count(n.state) * n.hidden * n.layers;
  return all * n.directions;
}

// Every gate of every step, of an LSTM the cells, and what lies between layers.
Count KeptOf(const Network& n) {
  const std::int64_t kept = n.gates() + (n.cell == CudnnCell::kLstm ? 1 : 0);
  const Count steps = Count(n.time) * n.batch * n.directions;
  return steps * n.hidden * n.layers * kept + steps * n.state * (n.layers - 1);
}

void NetworkShape(const OpView& op, Outputs& out) {
  const Network n = NetworkOf(op);
  const DType dtype = op.self().dtype();
  const Count width = Count(n.state) * n.directions;
  out.Add(dtype, Dims{n.time, n.batch, width.value()});
  const std::int64_t cells = (Count(n.layers) * n.directions).value();
  out.Add(dtype, Dims{cells, n.batch, n.state});
  op.given(3) ? out.Add(dtype, Dims{cells, n.batch, n.hidden}) : out.Add(dtype, Dims{0});
  const bool trains = op.boolean(8);
  out.Add(DType::kUInt8, Dims{trains ? allocations::Bytes(KeptOf(n), dtype) : 0});
  op.boolean(10) ? out.AddNone() : out.Add(dtype, Dims{WeightsOf(n).value()});
}

void NetworkAllocations(const OpView& op, Allocations& memory) {
  for (const int i : {0, 1, 2, 4, 3}) {
    if (op.output(i).defined()) memory.Output(i, "aten::empty");
  }
}

Work ProductsOf(const Network& n, int times) {
  const Count weights = WeightsOf(n, 0);
  const Count cells = Count(n.time) * n.batch * n.hidden * n.layers * n.directions;
  constexpr int kPerCell = 12;
  return {.mac = Count(n.time) * n.batch * weights * times, .alu = cells * kPerCell * times};
}
Work NetworkWork(const OpView& op) { return ProductsOf(NetworkOf(op), 1); }

// input, weight, weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers,
// batch_first, dropout, train, bidirectional, batch_sizes, dropout_state
std::vector<Tensor> CudnnRnn(Dispatcher& d, const OpView& op) {
  if (!op.integers(14).empty()) Refuse("packed sequences are not modelled");
  const bool batch_first = op.boolean(10);
  for (const int i : {4, 5}) {
    if (!op.given(i)) continue;
    shape::RequireRank("the state", op.tensor(i), 3);
    if (!op.tensor(i).is_contiguous()) Refuse("states are contiguous");
  }
  const Tensor first =
      batch_first ? d.Call("aten::transpose.int", op.arg(0), 0, 1) : d.tensor(op, 0);
  Tensor input = d.Call("aten::contiguous", first);
  std::vector<Tensor> out =
      d.CallMany("steelyard::cudnn_rnn", input, op.arg(1), op.arg(4), op.arg(5), op.arg(6),
                 op.arg(7), op.arg(8), op.arg(9), op.arg(12), op.arg(13), op.given(3));
  input.reset();
  if (batch_first) out[0] = d.Call("aten::transpose_", out[0], 0, 1);
  return out;
}

// --- Backward: input, hx, cx, output, grad_output, grad_hy, grad_cy, batch_first, mode,
// hidden_size, proj_size, num_layers, bidirectional -> the gradients of input, hx and cx
// ----------------------

void InputGradientsShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  Dims sizes(input.sizes()), strides = ContiguousStrides(sizes);
  if (op.boolean(7)) {
    const Dims in_time{sizes[1], sizes[0], sizes[2]};
    const Dims steps = ContiguousStrides(in_time);
    strides = Dims{steps[1], steps[0], steps[2]};
  }
  out.Add(input.dtype(), sizes, strides);
  out.Add(input.dtype(), op.tensor(1).sizes());
  op.given(2) ? out.Add(input.dtype(), op.tensor(2).sizes()) : out.AddNone();
}

// Dense in time, batch and size.
std::optional<Allocations::Scratch> InTime(const TensorView& t, bool batch_first,
                                           Allocations& memory) {
  Dims sizes(t.sizes()), strides(t.strides());
  if (batch_first) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
  }
  if (IsContiguous(sizes, strides)) return std::nullopt;
  return memory.Allocate(allocations::Bytes(work::Elements(t), t.dtype()), "aten::empty");
}

void InputGradientsAllocations(const OpView& op, Allocations& memory) {
  const bool batch_first = op.boolean(7);
  const auto input = InTime(op.self(), batch_first, memory);
  const auto gradient = InTime(op.tensor(4), batch_first, memory);
  memory.Output(0, "aten::empty");
  std::vector<std::optional<Allocations::Scratch>> states;
  for (const int i : {5, 6}) {
    if (op.given(i)) states.push_back(allocations::Contiguous(op.tensor(i), memory));
  }
  memory.Output(1, "aten::empty");
  if (op.output(2).defined()) memory.Output(2, "aten::empty");
  for (std::size_t i = states.size(); i-- > 0;) allocations::Free(states[i], memory);
  allocations::Free(gradient, memory);
  allocations::Free(input, memory);
}

// In the order in which the kernels' numbers follow the tensors.
Network NetworkBehind(const OpView& op, int mode) {
  const TensorView input = op.self();
  shape::RequireRank("the input", input, 3);
  const std::int64_t hidden = op.integer(mode + 1), projected = op.integer(mode + 2);
  return {.time = input.size(0),
          .batch = input.size(1),
          .inputs = input.size(2),
          .hidden = hidden,
          .state = projected > 0 ? projected : hidden,
          .layers = op.integer(mode + 3),
          .directions = op.boolean(mode + 4) ? 2 : 1,
          .cell = static_cast<CudnnCell>(op.integer(mode))};
}
Work InputGradientsWork(const OpView& op) { return ProductsOf(NetworkBehind(op, 8), 1); }

// input, mode, hidden_size, proj_size, num_layers, bidirectional -> those of all weights
void WeightGradientsShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), Dims{WeightsOf(NetworkBehind(op, 1)).value()});
}
Work WeightGradientsWork(const OpView& op) { return ProductsOf(NetworkBehind(op, 1), 1); }

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Part(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work) {
  return OpaqueKernel(Family::kContraction, words, shape, {allocations, allocations}, work,
                      kGradientUnknown);
}

constexpr std::array kRows{
    CopyingOut(Composite(
        Family::kContraction,
        {"aten::_cudnn_rnn", "A recurrent network over a sequence, by cuDNN.",
         "(Tensor input, Tensor[] weight, int weight_stride0, Tensor? weight_buf, Tensor hx, "
         "Tensor? cx, int mode, SymInt hidden_size, SymInt proj_size, int num_layers, bool "
         "batch_first, float dropout, bool train, bool bidirectional, SymInt[] batch_sizes, "
         "Tensor? dropout_state) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
         "aten::_cudnn_rnn(f32[5,2,8], [f32[24,8],f32[24,6],f32[24],f32[24]], 4, None, f32[1,2,6], "
         "f32[1,2,6], 2, 6, 0, 1, False, 0.0, False, False, [], None)"},
        CudnnRnn, gradients::kCudnnRnn, precision::kLowOnCuda)),
    Part({"steelyard::cudnn_rnn", "The kernel of `_cudnn_rnn`.",
          "(Tensor input, Tensor[] weight, Tensor hx, Tensor? cx, int mode, int hidden_size, int "
          "proj_size, int num_layers, bool train, bool bidirectional, bool flat) -> (Tensor, "
          "Tensor, Tensor, Tensor, Tensor)",
          "steelyard::cudnn_rnn(f32[5,2,8], [f32[24,8],f32[24,6],f32[24],f32[24]], f32[1,2,6], "
          "f32[1,2,6], 2, 6, 0, 1, True, False, True)"},
         NetworkShape, NetworkAllocations, NetworkWork),
    Part(
        {"steelyard::cudnn_rnn_input_gradients",
         "The gradients of input and states, inside `_cudnn_rnn_backward`.",
         "(Tensor input, Tensor hx, Tensor? cx, Tensor output, Tensor grad_output, Tensor grad_hy, "
         "Tensor? grad_cy, bool batch_first, int mode, int hidden_size, int proj_size, int "
         "num_layers, bool bidirectional) -> (Tensor, Tensor, Tensor)",
         "steelyard::cudnn_rnn_input_gradients(f32[5,2,8], f32[1,2,6], f32[1,2,6], f32[5,2,6], "
         "f32[5,2,6], f32[1,2,6], f32[1,2,6], False, 2, 6, 0, 1, False)"},
        InputGradientsShape, InputGradientsAllocations, InputGradientsWork),
    Part({"steelyard::cudnn_rnn_weight_gradients",
          "The gradients of all weights, inside `_cudnn_rnn_backward`.",
          "(Tensor input, int mode, int hidden_size, int proj_size, int num_layers, bool "
          "bidirectional) -> Tensor",
          "steelyard::cudnn_rnn_weight_gradients(f32[5,2,8], 2, 6, 0, 1, False)"},
         WeightGradientsShape, allocations::Via<"aten::zeros">, WeightGradientsWork),
};

// Whether the weights lie in one buffer, as those of a module do on CUDA; what was computed, as by
// a cast, does not.
bool LieTogether(const std::vector<Tensor>& weights) {
  return !weights.empty() && std::ranges::all_of(weights, [](const Tensor& weight) {
    return weight.view().value().role != Role::kActivation;
  });
}

// Whether ATen gives the input to cuDNN (at::cudnn_is_acceptable).
bool IsAcceptable(const Dispatcher& d, const TensorView& input) {
  if (d.target().device != Device::kCuda || input.count() == 0) return false;
  const DType dtype = input.dtype();
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

}  // namespace

std::span<const OpDef> CudnnRecurrent() { return kRows; }

std::optional<std::vector<Tensor>> RunInCudnn(Dispatcher& d, const OpView& op, CudnnCell cell,
                                              const Tensor& state, const Tensor& cells) {
  if (!IsAcceptable(d, op.self())) return std::nullopt;
  const bool projects = cells.defined() && cells.size(2) != state.size(2);
  const std::int64_t hidden = projects ? cells.size(2) : state.size(2);
  const std::int64_t projected = projects ? state.size(2) : 0;
  const std::int64_t each = (op.boolean(3) ? 4 : 2) + (projects ? 1 : 0);
  const bool trains = op.boolean(6);
  if (trains) {
    d.NoteEstimate(
        "what cuDNN keeps of a recurrent network for its gradients is taken to be the least: each "
        "gate of each step, the cells, and what lies between layers");
  }
  const std::vector<Tensor> weights = d.tensors(op, 2);
  const Tensor buffer = LieTogether(weights) ? weights[0] : Tensor();  // that begins there
  std::vector<Tensor> out =
      d.CallMany("aten::_cudnn_rnn", op.arg(0), op.arg(2), each, buffer, state, cells,
                 static_cast<std::int64_t>(cell), hidden, projected, op.arg(4), op.arg(8),
                 op.arg(5), trains, op.arg(7), Dims(), std::nullopt);
  for (std::size_t i = 3; i < out.size(); ++i) out[i].reset();
  out.resize(cells.defined() ? 3 : 2);
  return out;
}

}  // namespace steelyard::ops
