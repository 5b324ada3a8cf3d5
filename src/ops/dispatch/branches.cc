// SPDX-License-Identifier: Apache-2.0
//
// A choice among graphs that only the data make: each is tried, and the costliest stays, so that
// what is weighed is enough whatever is chosen.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/graph_tracer.h"
#include "ops/dispatch/locals.h"
#include "ops/rules/work.h"

namespace steelyard {

Work Dispatcher::WorkSince(std::size_t node) const {
  Work total;
  const std::vector<Node>& nodes = out_.main().nodes;
  for (std::size_t i = node; i < nodes.size(); ++i) {
    const OpDef* def = FindOp(OpName::FromRuntime(out_.op_name(nodes[i].op)));
    if (def == nullptr || nodes[i].refusal != kNoString) continue;
    const OpView op(out_, *def, out_.args(nodes[i]), out_.results(nodes[i]), target_);
    total = total + (**def->work)(op);
  }
  return total;
}

GraphCost Dispatcher::CostSince(std::size_t node) const {
  const Work work = WorkSince(node);
  const Count arithmetic = Count(2) * work.mac + work.alu + work.special + work.compare;
  return {arithmetic.overflowed() ? INT64_MAX : arithmetic.value(), bytes_.value()};
}

GraphCost Dispatcher::CostOf(GraphId graph, const std::vector<Tensor>& operands) {
  const Progress before = Mark();
  const std::vector<std::int64_t> runs = out_.graph_runs;
  RunGraph(graph, operands);
  const GraphCost cost = CostSince(before.nodes);
  TakeBack(before);
  out_.graph_runs = runs;
  return cost;
}

// A trial under autograd would leave nodes of the backward pass behind: it runs apart.
GraphId Dispatcher::CostliestOf(std::span<const GraphId> graphs,
                                const std::vector<Tensor>& operands) {
  GraphId costliest = graphs[0];
  GraphCost most{-1, -1};
  for (const GraphId graph : graphs) {
    const GraphCost cost = autograd_ == nullptr
                               ? CostOf(graph, operands)
                               : Trace(*this, {.body = graph, .operands = operands}).cost();
    if (cost <= most) continue;
    most = cost;
    costliest = graph;
  }
  return costliest;
}

// What was found in a trial holds when the branch runs: without that, choices within choices would
// be tried twice as often with each level.
std::vector<Tensor> Dispatcher::RunCostliest(std::span<const GraphId> graphs,
                                             const std::vector<Tensor>& operands) {
  std::vector<std::int64_t> key(graphs.begin(), graphs.end());
  for (const Tensor& operand : operands) {
    key.push_back(operand.defined() ? static_cast<std::int64_t>(operand.dtype()) : -1);
    if (!operand.defined()) continue;
    key.push_back(operand.rank());
    key.insert(key.end(), operand.sizes().begin(), operand.sizes().end());
    const std::span<const std::int64_t> strides = operand.view().strides();
    key.insert(key.end(), strides.begin(), strides.end());
  }
  const auto known = costliest_.find(key);
  if (known != costliest_.end()) return RunGraph(known->second, operands);
  const GraphId costliest = CostliestOf(graphs, operands);
  costliest_.emplace(std::move(key), costliest);
  return RunGraph(costliest, operands);
}

}  // namespace steelyard
