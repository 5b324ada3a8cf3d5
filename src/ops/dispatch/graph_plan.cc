// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/graph_plan.h"

#include <algorithm>
#include <cstddef>

namespace steelyard {

GraphPlan::GraphPlan(const Program& program, const Graph& graph) {
  FindRange(program, graph);
  FindDeaths(program, graph);
}

void GraphPlan::FindRange(const Program& program, const Graph& graph) {
  ValueId low = kNoId, high = 0;
  const auto note = [&](ValueId id) {
    if (id == kNoId) return;
    low = std::min(low, id);
    high = std::max(high, id);
  };
  for (ValueId id : graph.inputs) note(id);
  for (const Node& node : graph.nodes) {
    for (const Argument& argument : program.args(node)) VisitValues(program, argument, note);
    for (ValueId id : program.results(node)) note(id);
  }
  for (const Argument& output : graph.outputs) VisitValues(program, output, note);
  if (low == kNoId) return;
  first_ = low;
  count_ = std::size_t{high} - low + 1;
}

void GraphPlan::FindDeaths(const Program& program, const Graph& graph) {
  std::vector<bool> seen(count_, false);
  std::vector<std::uint32_t> deaths_of(graph.nodes.size(), 0);
  std::vector<ValueId> reversed;  // runs of each node, last node first, each run in its own order
  const auto mark = [&](ValueId id) { seen[id - first_] = true; };
  for (const Argument& output : graph.outputs) VisitValues(program, output, mark);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const std::size_t before = reversed.size();
    const auto note = [&](ValueId id) {
      if (id == kNoId || seen[id - first_]) return;
      seen[id - first_] = true;
      reversed.push_back(id);
    };
    for (const Argument& argument : program.args(graph.nodes[i])) {
      VisitValues(program, argument, note);
    }
    for (ValueId id : program.results(graph.nodes[i])) note(id);
    std::reverse(reversed.begin() + static_cast<std::ptrdiff_t>(before), reversed.end());
    deaths_of[i] = static_cast<std::uint32_t>(reversed.size() - before);
  }
  deaths_.assign(reversed.rbegin(), reversed.rend());
  begin_.resize(graph.nodes.size() + 1, 0);
  for (std::size_t i = 0; i < deaths_of.size(); ++i) begin_[i + 1] = begin_[i] + deaths_of[i];
}

}  // namespace steelyard
