// SPDX-License-Identifier: Apache-2.0
//
// When the variables of a graph die, found once for each graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/visit_values.h"
#include "steelyard/program.h"

namespace steelyard {

// Whose variables they are.
enum class Variables : std::uint8_t {
  // The generated code of a graph module sets each local to None right after the node that uses it
  // last, in the order of that node's arguments; a result nobody uses dies after its own node.
  kGenerated,
  // What a module was called with lives besides until that call returns: the frames of
  // `Module.__call__` hold its arguments. Of what a `forward` calls its own variables the file does
  // not tell.
  kModules,
};

class GraphPlan {
 public:
  GraphPlan(const Program& program, const Graph& graph, Variables variables);

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
  // A value that is not returned, and where it dies.
  struct Death {
    std::uint32_t node = 0;
    std::uint32_t depth = 0;  // of the call that holds it until then; 0: none
    ValueId value = kNoId;
  };
  // By the nodes that use them last, the last first, and those of a node in the reverse order.
  std::vector<Death> LastUses(const Program& program, const Graph& graph) const;
  static void HoldArguments(const Program& program, const Graph& graph, std::vector<Death>* deaths);
  void Sort(std::size_t nodes, std::vector<Death> deaths);

  ValueId first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> begin_;  // by node, and the end
  std::vector<ValueId> deaths_;
};

}  // namespace steelyard
