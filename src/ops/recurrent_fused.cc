// SPDX-License-Identifier: Apache-2.0
//
// Cells whose gates one kernel computes, on CUDA (ATen/native/cuda/RNN.cu): a workspace keeps the
// gates for the gradients.

#include <array>
#include <cstdint>
#include <vector>

#include "ops/gradients/recurrent.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

constexpr std::int64_t kGruGates = 3, kLstmGates = 4;
constexpr std::int64_t kGruKept = 5;  // gates and what they are made of, for each state

// input_gates, hidden_gates, the state, input_bias, hidden_bias: what checkSizes refuses.
void RequireCell(const OpView& op, std::int64_t gates) {
  const TensorView first = op.self(), state = op.tensor(2);
  shape::RequireRank("the gates", first, 2);
  shape::RequireRank("the state", state, 2);
  shape::RequireEqual("gates and states", first.size(1), (Count(gates) * state.size(1)).value());
  shape::RequireEqual("batch sizes", state.size(0), first.size(0));
  if (op.given(3) && !op.given(4)) Refuse("the products have one bias and not the other");
  for (const int i : {1, 2, 3, 4}) {
    if (!op.given(i)) continue;
    if (op.tensor(i).dtype() != first.dtype()) Refuse("operands of different dtypes");
    if (i == 2) continue;
    shape::RequireEqual("gates", op.tensor(i).size(-1), first.size(1));
    shape::RequireEqual("gates", op.tensor(i).count(), i == 1 ? first.count() : first.size(1));
  }
}

void GruShape(const OpView& op, Outputs& out) {
  RequireCell(op, kGruGates);
  const TensorView state = op.tensor(2);
  out.Add(state.dtype(), state.sizes());
  out.Add(state.dtype(), Dims{state.size(0), (Count(kGruKept) * state.size(1)).value()});
}
void LstmShape(const OpView& op, Outputs& out) {
  RequireCell(op, kLstmGates);
  const TensorView state = op.tensor(2);
  out.Add(state.dtype(), state.sizes());
  out.Add(state.dtype(), state.sizes());
  out.Add(op.self().dtype(), op.self().sizes());
}
// The workspace comes first.
void CellAllocations(const OpView& op, Allocations& memory) {
  const int workspace = op.output_count() - 1;
  memory.Output(workspace, "aten::empty");
  for (int i = 0; i < workspace; ++i) memory.Output(i, "aten::empty");
}

// Of each state: the gates' functions, and the sums and products around them.
constexpr WorkFn kGruWork = work::PerOutput<work::PerElement{.alu = 13, .special = 3}>;
constexpr WorkFn kLstmWork = work::PerOutput<work::PerElement{.alu = 16, .special = 5}>;

// --- Backward ------------------------------------------------------------------------------------

// grad_hy, workspace -> the gradients of both products and of the state.
void GruBackwardShape(const OpView& op, Outputs& out) {
  const TensorView workspace = op.tensor(1);
  shape::RequireRank("the workspace", workspace, 2);
  const Dims gates{workspace.size(0), workspace.size(1) / kGruKept * kGruGates};
  out.Add(workspace.dtype(), gates);
  out.Add(workspace.dtype(), gates);
  out.Add(op.self().dtype(), op.self().sizes());
}
std::vector<Tensor> GruBackward(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> out = d.CallMany("steelyard::gru_cell_backward", op.arg(0), op.arg(1));
  out.resize(5);
  if (!op.boolean(2)) return out;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    out[i + 3] = d.Call("aten::sum.dim_IntList", out[i], Dims{0}, false);
  }
  return out;
}

// grad_hy, grad_cy, cx, cy, workspace -> the gradients of the gates and of the cells.
void LstmBackwardShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(4).dtype(), op.tensor(4).sizes());
  out.Add(op.tensor(2).dtype(), op.tensor(2).sizes());
}
std::vector<Tensor> LstmBackwardStep(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> out = d.CallMany("steelyard::lstm_cell_backward", op.arg(0), op.arg(1),
                                       op.arg(2), op.arg(3), op.arg(4));
  out.emplace_back();
  if (op.boolean(5)) out[2] = d.Call("aten::sum.dim_IntList", out[0], Dims{0}, false);
  return out;
}
std::vector<Tensor> LstmBackward(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> out = d.CallMany("aten::_thnn_fused_lstm_cell_backward_impl", op.arg(0),
                                             op.arg(1), op.arg(2), op.arg(3), op.arg(4), op.arg(5));
  return {out[0], out[0], out[1], out[2], out[2]};
}

constexpr WorkFn kGruBackwardWork = work::PerOutput<work::PerElement{.alu = 6}>;
constexpr WorkFn kLstmBackwardWork = work::PerOutput<work::PerElement{.alu = 6}>;

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Row(const Words& words, ShapeFn shape, WorkFn work, Gradient grad,
                    AllocationsFn allocations = allocations::OutputsOnly,
                    Precision precision = precision::kFollow) {
  return CopyingOut(OpaqueKernel(Family::kContraction, words, shape, {allocations, allocations},
                                 work, grad, precision));
}

constexpr std::array kRows{
    Row({"aten::_thnn_fused_gru_cell", "The gates of a gated recurrent unit, on CUDA.",
         "(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, Tensor? "
         "hidden_bias=None) -> (Tensor, Tensor)",
         "aten::_thnn_fused_gru_cell(f32[2,18], f32[2,18], f32[2,6], f32[18], f32[18])"},
        GruShape, kGruWork, gradients::kGruCell, CellAllocations, precision::kLowOnCuda),
    Row({"aten::_thnn_fused_lstm_cell", "The gates of a step of long short-term memory, on CUDA.",
         "(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, Tensor? "
         "hidden_bias=None) -> (Tensor, Tensor, Tensor)",
         "aten::_thnn_fused_lstm_cell(f32[2,24], f32[2,24], f32[2,6], f32[24], f32[24])"},
        LstmShape, kLstmWork, gradients::kLstmCell, CellAllocations, precision::kLowOnCuda),
    CopyingOut(Composite(
        Family::kContraction,
        {"aten::_thnn_fused_gru_cell_backward", "The gradients of a gated recurrent unit's gates.",
         "(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, "
         "Tensor)",
         "aten::_thnn_fused_gru_cell_backward(f32[2,6], f32[2,30], True)"},
        GruBackward, kGradientUnknown)),
    Row({"steelyard::gru_cell_backward", "Their kernel, without the biases' sums.",
         "(Tensor grad_hy, Tensor workspace) -> (Tensor, Tensor, Tensor)",
         "steelyard::gru_cell_backward(f32[2,6], f32[2,30])"},
        GruBackwardShape, kGruBackwardWork, kGradientUnknown),
    Composite(Family::kContraction,
              {"aten::_thnn_fused_lstm_cell_backward",
               "The gradients of the gates of a step of long short-term memory.",
               "(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool "
               "has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
               "aten::_thnn_fused_lstm_cell_backward(f32[2,6], f32[2,6], f32[2,6], f32[2,6], "
               "f32[2,24], True)"},
              LstmBackward, kGradientUnknown),
    CopyingOut(Composite(
        Family::kContraction,
        {"aten::_thnn_fused_lstm_cell_backward_impl", "The same, each gradient once.",
         "(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool "
         "has_bias) -> (Tensor, Tensor, Tensor)",
         "aten::_thnn_fused_lstm_cell_backward_impl(f32[2,6], f32[2,6], f32[2,6], f32[2,6], "
         "f32[2,24], True)"},
        LstmBackwardStep, kGradientUnknown)),
    Row({"steelyard::lstm_cell_backward", "Their kernel, without the bias's sum.",
         "(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace) -> (Tensor, "
         "Tensor)",
         "steelyard::lstm_cell_backward(f32[2,6], f32[2,6], f32[2,6], f32[2,6], f32[2,24])"},
        LstmBackwardShape, kLstmBackwardWork, kGradientUnknown),
};

}  // namespace

std::span<const OpDef> FusedCells() { return kRows; }

}  // namespace steelyard::ops
