// SPDX-License-Identifier: Apache-2.0
//
// One number for each node of a program: those of graph 0 in order, then those of graph 1, and so
// on. It is what `Node::origin` holds.
#pragma once

#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// Valid while the program is, and while its graphs keep their nodes.
class NodeNumbering {
 public:
  explicit NodeNumbering(const Program& program);
  // The number of the first node of a graph.
  NodeId first(GraphId graph) const { return first_[graph]; }
  // Requires: a number of some node.
  GraphId graph(NodeId number) const;
  const Node& node(NodeId number) const;
  NodeId count() const { return first_.back(); }

 private:
  const Program* program_;
  std::vector<NodeId> first_;  // by graph, and the count of all
};

}  // namespace steelyard
