// SPDX-License-Identifier: Apache-2.0
//
// What a kernel of several operators reads and writes: operands and results, each once. What stays
// inside it is not moved.
#pragma once

#include <vector>

#include "ops/op_def.h"
#include "runtime/graph/steps.h"

namespace steelyard::graph {

// For each call of the step that has a node, in order: of a kernel of one operator what its row
// says, of several the traffic of all at the last.
std::vector<Traffic> TrafficOf(const CallGraph& graph, const Step& step, const Target& target);

}  // namespace steelyard::graph
