// SPDX-License-Identifier: Apache-2.0
//
// A choice among graphs that only the data make: each is tried, and the costliest stays, so that
// what is weighed is enough whatever is chosen.

#include <utility>

#include "ops/dispatch/dispatcher.h"
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

// A trial under autograd would leave nodes of the backward pass behind.
std::vector<Tensor> Dispatcher::RunCostliest(std::span<const GraphId> graphs,
                                             const std::vector<Tensor>& operands) {
  GraphId costliest = graphs[0];
  std::pair<std::int64_t, std::int64_t> most{-1, -1};  // arithmetic and bytes
  const std::vector<std::int64_t> runs = out_.graph_runs;
  for (const GraphId graph : graphs) {
    if (autograd_ != nullptr) break;
    const Progress before = Mark();
    RunGraph(graph, operands);
    const Work work = WorkSince(before.nodes);
    const Count arithmetic = Count(2) * work.mac + work.alu + work.special + work.compare;
    const std::pair cost{arithmetic.overflowed() ? INT64_MAX : arithmetic.value(), bytes_.value()};
    TakeBack(before);
    out_.graph_runs = runs;
    if (cost <= most) continue;
    most = cost;
    costliest = graph;
  }
  return RunGraph(costliest, operands);
}

}  // namespace steelyard
