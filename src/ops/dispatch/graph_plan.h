// SPDX-License-Identifier: Apache-2.0
//
// When the variables of a graph die: what its generated code does, found once for each graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// Visits the values an argument refers to, nested lists flattened, in order.
template <class Visit>
void VisitValues(const Program& program, const Argument& argument, const Visit& visit) {
  if (argument.kind == ArgKind::kValue) visit(argument.value);
  if (argument.kind != ArgKind::kList) return;
  for (const Argument& element : program.list(argument.list)) VisitValues(program, element, visit);
}

class GraphPlan {
 public:
  // The generated code of a graph module sets each local to None right after the node that uses it
  // last, in the order of that node's arguments; a result nobody uses dies after its own node.
  GraphPlan(const Program& program, const Graph& graph);

  // The values of the graph lie in [first, first + count) of the program's.
  ValueId first() const { return first_; }
  std::size_t count() const { return count_; }
  bool Has(ValueId id) const { return id >= first_ && id - first_ < count_; }
  // Which values die right after a node, in order.
  std::span<const ValueId> DeathsAfter(std::size_t node) const {
    return std::span(deaths_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

 private:
  void FindRange(const Program& program, const Graph& graph);
  void FindDeaths(const Program& program, const Graph& graph);

  ValueId first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> begin_;  // by node, and the end
  std::vector<ValueId> deaths_;
};

}  // namespace steelyard
