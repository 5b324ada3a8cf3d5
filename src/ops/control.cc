// SPDX-License-Identifier: Apache-2.0
//
// Higher-order operators, which run graphs of the program, and bookkeeping that runs nothing.

#include <array>
#include <vector>

#include "ops/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

std::vector<Tensor> WithSetGradEnabled(Dispatcher& d, const OpView& op) {
  const bool before = d.grad_enabled();
  // A program weighed without gradients stays so: the flag can only switch them off.
  d.set_grad_enabled(before && op.boolean(0));
  std::vector<Tensor> out = d.RunGraph(op.graph(1), d.tensors(op, 2));
  d.set_grad_enabled(before);
  return out;
}

// The body alone: what the wrapper adds (hints, recomputation) is not of a forward pass.
std::vector<Tensor> RunBody(Dispatcher& d, const OpView& op) {
  return d.RunGraph(op.graph(0), d.tensors(op, 1));
}

// device, dtype, enabled, cache_enabled, body, operands
std::vector<Tensor> WithAutocast(Dispatcher& d, const OpView& op) {
  if (op.boolean(2)) {
    d.Note("a region of torch.autocast is weighed in the dtypes that its operands have");
  }
  return d.RunGraph(op.graph(4), d.tensors(op, 5));
}

std::vector<Tensor> Cond(Dispatcher& d, const OpView& op) {
  d.Note(d.grad_enabled() ? "cond: which branch runs depends on data; the first is weighed"
                          : "cond: which branch runs depends on data; the costlier is weighed");
  return d.RunCostliest(std::array{op.graph(1), op.graph(2)}, d.tensors(op, 3));
}

// cond_fn, body_fn, carried, additional: the condition once more than the body.
std::vector<Tensor> WhileLoop(Dispatcher& d, const OpView& op) {
  d.Note("while_loop: how often its body runs depends on data; once is weighed");
  std::vector<Tensor> carried = d.tensors(op, 2);
  const std::vector<Tensor> additional = d.tensors(op, 3);
  const auto operands = [&] {
    std::vector<Tensor> all = carried;
    all.insert(all.end(), additional.begin(), additional.end());
    return all;
  };
  d.RunGraph(op.graph(0), operands());
  carried = d.RunGraph(op.graph(1), operands());
  d.RunGraph(op.graph(0), operands());
  return carried;
}

void NoOutputs(const OpView& op, Outputs& out) {
  (void)op;
  (void)out;
}

constexpr OpDef ControlRow(OpName name, std::string_view summary, Signature signature,
                           DecomposeFn decompose) {
  return OpDef{.name = name,
               .summary = summary,
               .signature = signature,
               .example = "",  // a graph cannot be written in a call
               .family = Family::kControl,
               .shape = kShapeFromParts,
               .alias = Alias::kNone,
               .decompose = decompose,
               .allocations = kAllocationsFromParts,
               .work = kWorkFromParts,
               .traffic = kTrafficFromParts,
               .grad = kNoGradient};
}

constexpr OpDef Bookkeeping(OpName name, std::string_view summary, Signature signature,
                            std::string_view example) {
  return OpDef{.name = name,
               .summary = summary,
               .signature = signature,
               .example = example,
               .family = Family::kBookkeeping,
               .shape = NoOutputs,
               .alias = Alias::kNone,
               .decompose = kIsKernel,
               .allocations = allocations::None,
               .work = work::None,
               .traffic = traffic::None,
               .grad = kNoGradient};
}

constexpr std::array kRows{
    ControlRow("higher_order::wrap_with_set_grad_enabled",
               "Runs a graph with gradients switched on or off.",
               "(bool enabled, Graph body, Any... operands) -> Any[]", WithSetGradEnabled),
    ControlRow("higher_order::tag_activation_checkpoint",
               "Runs a graph that training recomputes in backward.",
               "(Graph body, Any... operands) -> Any[]", RunBody),
    ControlRow("higher_order::wrap_with_autocast", "Runs a graph under torch.autocast.",
               "(str device, ScalarType? dtype, bool enabled, bool? cache_enabled, Graph body, "
               "Any... operands) -> Any[]",
               WithAutocast),
    ControlRow("higher_order::wrap", "Runs a graph.", "(Graph body, Any... operands) -> Any[]",
               RunBody),
    ControlRow("higher_order::cond", "Runs one of two graphs.",
               "(Any pred, Graph if_true, Graph if_false, Any[] operands) -> Any[]", Cond),
    ControlRow("higher_order::while_loop", "Runs a graph as long as another one says so.",
               "(Graph cond_fn, Graph body_fn, Any[] carried_inputs, Any[] additional_inputs) -> "
               "Any[]",
               WhileLoop),
    Bookkeeping("aten::_assert_tensor_metadata", "Checks a tensor's sizes, strides and dtype.",
                "(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
                "Device? device=None, "
                "Layout? layout=None) -> ()",
                "aten::_assert_tensor_metadata(f32[2])"),
};

}  // namespace

std::span<const OpDef> Control() { return kRows; }

}  // namespace steelyard::ops
