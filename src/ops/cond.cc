// SPDX-License-Identifier: Apache-2.0
//
// torch.cond: one of two graphs runs, by what only the data tell (torch/_higher_order_ops/cond.py).
// Under gradients the graph runs without them, inside a function that keeps the operands. Both
// graphs are recorded once more before that, only to see whether they overwrite an operand, and in
// the backward pass as graphs that run the branch again and then its backward pass; of these the
// one runs that belongs to the branch.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/graph_tracer.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

using Branches = std::array<GraphId, 2>;

class CondFunction final : public PythonFunction {
 public:
  static constexpr std::string_view kForward = "CondAutogradOp";

  CondFunction(const Branches& branches, std::size_t taken, const AutocastMode& autocast)
      : branches_(branches), taken_(taken), autocast_(autocast) {}

  std::string_view name() const override { return "CondAutogradOpBackward"; }

  std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor> operands,
                               std::span<const Tensor> arrived) override {
    std::array<TracedGraph, 2> graphs;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      graphs[i] = Materialize(
          d,
          {.body = branches_[i], .operands = operands, .tangents = arrived, .autocast = autocast_});
    }
    std::vector<Tensor> all(operands.begin(), operands.end());
    all.insert(all.end(), arrived.begin(), arrived.end());
    return graphs[taken_].Run(d, std::move(all));
  }

 private:
  Branches branches_;
  std::size_t taken_;
  AutocastMode autocast_;
};

// `taken` is known where the condition is a number.
std::vector<Tensor> RunRecorded(Dispatcher& d, const OpView& op, const Branches& branches,
                                const std::size_t* taken) {
  const Node context = d.context();
  const AutocastMode autocast = d.autocast_mode();
  if (d.traces()) {
    d.NoteEstimate(
        "cond: in a branch of another one, when a training step frees its tensors may differ");
  }
  const Dispatcher::AsCaller python(d);
  FunctionCall call{.operands = d.tensors(op, 3), .sequence = d.autograd().TakeSequence()};
  std::array<GraphCost, 2> costs;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    costs[i] =
        Materialize(d, {.body = branches[i], .operands = call.operands, .autocast = autocast})
            .cost();
  }
  const std::size_t branch = taken != nullptr ? *taken : costs[1] > costs[0] ? 1 : 0;
  std::vector<Tensor> results;
  {
    const Dispatcher::Inside function(d, CondFunction::kForward);
    const Dispatcher::GradMode off(d, false);
    results = d.RunGraphHere(branches[branch], call.operands);
  }
  call.function = std::make_unique<CondFunction>(branches, branch, autocast);
  if (op.given(0) && op.arg(0).kind == ArgKind::kValue) call.context.push_back(d.tensor(op, 0));
  std::ranges::reverse_copy(call.operands, std::back_inserter(call.context));
  d.autograd().AddFunction(std::move(call), results, context);
  return results;
}

std::vector<Tensor> RunCond(Dispatcher& d, const OpView& op) {
  const Branches branches{op.graph(1), op.graph(2)};
  const std::vector<Tensor> operands = d.tensors(op, 3);
  const bool recorded = d.grad_enabled() && std::ranges::any_of(operands, [](const Tensor& t) {
                          return t.defined() && t.requires_grad();
                        });
  // A condition that is no tensor is a number by now, such as one of sizes.
  if (op.given(0) && op.arg(0).kind != ArgKind::kValue) {
    const std::size_t taken = op.boolean(0) ? 0 : 1;
    return recorded ? RunRecorded(d, op, branches, &taken) : d.RunGraph(branches[taken], operands);
  }
  d.Note("cond: which branch runs depends on data; the costlier is weighed");
  return recorded ? RunRecorded(d, op, branches, nullptr) : d.RunCostliest(branches, operands);
}

// What sizes decide in Python is no torch.cond, which would keep the operands.
std::vector<Tensor> RunIf(Dispatcher& d, const OpView& op) {
  return d.RunGraph(op.graph(op.integer(0) != 0 ? 1 : 2), d.tensors(op, 3));
}

constexpr std::array kRows{
    Composite("steelyard::if", "Runs one of two graphs by a number, as Python's `if` does.",
              "(SymInt condition, Graph if_true, Graph if_false, Any[] operands) -> Any[]", "",
              Family::kControl, RunIf, precision::kFollow),
    Composite("higher_order::cond", "Runs one of two graphs.",
              "(Any pred, Graph if_true, Graph if_false, Any[] operands) -> Any[]", "",
              Family::kControl, RunCond, precision::kFollow),
};

}  // namespace

std::span<const OpDef> Cond() { return kRows; }

}  // namespace steelyard::ops
