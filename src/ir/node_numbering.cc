// SPDX-License-Identifier: Apache-2.0

#include "ir/node_numbering.h"

#include <algorithm>

namespace steelyard {

NodeNumbering::NodeNumbering(const Program& program) : program_(&program) {
  first_.reserve(program.graphs.size() + 1);
  NodeId next = 0;
  for (const Graph& graph : program.graphs) {
    first_.push_back(next);
    next += static_cast<NodeId>(graph.nodes.size());
  }
  first_.push_back(next);
}

GraphId NodeNumbering::graph(NodeId number) const {
  if (number < first_[1]) return 0;
  const auto after = std::ranges::upper_bound(first_, number);
  return static_cast<GraphId>(after - first_.begin()) - 1;
}

const Node& NodeNumbering::node(NodeId number) const {
  const GraphId of = graph(number);
  return program_->graphs[of].nodes[number - first_[of]];
}

}  // namespace steelyard
