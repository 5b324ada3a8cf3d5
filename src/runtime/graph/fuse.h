// SPDX-License-Identifier: Apache-2.0
//
// Which calls a compiler joins into one kernel, as RAF's does it: a pointwise operator moves into
// the product before it, as the library's epilogue; then TVM's algorithm joins each operator with
// the one through which all that comes from it passes, if nothing between them is too hard.
#pragma once

#include <vector>

#include "runtime/graph/call_graph.h"

namespace steelyard::graph {

// By call: the last call of its kernel, itself where it is alone.
std::vector<CallId> FuseCalls(const CallGraph& graph);

// By call: a kernel for each.
std::vector<CallId> FuseNothing(const CallGraph& graph);

}  // namespace steelyard::graph
