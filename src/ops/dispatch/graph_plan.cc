// SPDX-License-Identifier: Apache-2.0
//
// Last uses are found from the end of the graph. Where modules hold their arguments, a death moves
// to the end of the outermost call around the last use that the value was made outside of.

#include "ops/dispatch/graph_plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ir/visit_values.h"

namespace steelyard {
namespace {

// More than any call is nested.
constexpr std::uint32_t kDeepest = std::numeric_limits<std::uint32_t>::max();

// Results that nobody uses die with Python's tuple of them, which goes from its end; but the last
// is held by a variable of its own when the tuple goes.
std::vector<ValueId> InOrderOfRelease(std::span<const ValueId> results) {
  std::vector<ValueId> out(results.rbegin(), results.rend());
  if (!out.empty()) std::ranges::rotate(out, out.begin() + 1);
  return out;
}

}  // namespace

GraphPlan::GraphPlan(const Program& program, const Graph& graph, Variables variables) {
  FindRange(program, graph);
  std::vector<Death> deaths = LastUses(program, graph);
  if (variables == Variables::kModules) HoldArguments(program, graph, &deaths);
  Sort(graph.nodes.size(), std::move(deaths));
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

std::vector<GraphPlan::Death> GraphPlan::LastUses(const Program& program,
                                                  const Graph& graph) const {
  std::vector<bool> seen(count_, false);
  std::vector<Death> reversed;  // runs of each node, each run in its own order
  const auto mark = [&](ValueId id) { seen[id - first_] = true; };
  for (const Argument& output : graph.outputs) VisitValues(program, output, mark);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const std::size_t before = reversed.size();
    const auto note = [&](ValueId id) {
      if (id == kNoId || seen[id - first_]) return;
      seen[id - first_] = true;
      reversed.push_back({.node = static_cast<std::uint32_t>(i), .value = id});
    };
    for (const Argument& argument : program.args(graph.nodes[i])) {
      VisitValues(program, argument, note);
    }
    for (ValueId id : InOrderOfRelease(program.results(graph.nodes[i]))) note(id);
    std::reverse(reversed.begin() + static_cast<std::ptrdiff_t>(before), reversed.end());
  }
  return reversed;
}

// An argument of a call is used within it and made outside.
void GraphPlan::HoldArguments(const Program& program, const Graph& graph,
                              std::vector<Death>* deaths) {
  const std::vector<ModuleCall>& calls = program.calls;
  std::vector<std::uint32_t> depths(calls.size(), 1), ends(calls.size(), 0);
  for (CallId call = 0; call < calls.size(); ++call) {
    if (calls[call].parent != kNoId) depths[call] = depths[calls[call].parent] + 1;
  }
  std::vector<CallId> makers(program.values.size(), kNoId);
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const CallId innermost = graph.nodes[i].call;
    for (CallId call = innermost; call != kNoId; call = calls[call].parent) ends[call] = i;
    for (const ValueId id : program.results(graph.nodes[i])) {
      if (id != kNoId) makers[id] = innermost;
    }
  }
  const auto lies_within = [&](CallId inner, CallId outer) {
    while (inner != kNoId && depths[inner] > depths[outer]) inner = calls[inner].parent;
    return inner == outer;
  };
  for (Death& death : *deaths) {
    const CallId maker = makers[death.value];
    CallId call = graph.nodes[death.node].call;
    for (; call != kNoId && !lies_within(maker, call); call = calls[call].parent) {
      death.node = ends[call];
      death.depth = depths[call];
    }
  }
}

void GraphPlan::Sort(std::size_t nodes, std::vector<Death> deaths) {
  std::ranges::reverse(deaths);
  begin_.assign(nodes + 1, 0);
  for (const Death& death : deaths) ++begin_[death.node + 1];
  for (std::size_t i = 0; i < nodes; ++i) begin_[i + 1] += begin_[i];
  // What nobody holds goes first; then what the calls hold that return there, the inner ones first.
  std::ranges::stable_sort(deaths, {}, [](const Death& death) {
    return std::pair(death.node, death.depth == 0 ? 0 : kDeepest - death.depth);
  });
  deaths_.reserve(deaths.size());
  for (const Death& death : deaths) deaths_.push_back(death.value);
}

}  // namespace steelyard
