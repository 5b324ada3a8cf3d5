// SPDX-License-Identifier: Apache-2.0
//
// The calls of a graph as the virtual machine runs them: kernels, and between them the views and
// fields that take no time, in an order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/call_graph.h"

namespace steelyard::graph {

struct Step {
  CallKind kind = CallKind::kKernel;
  std::vector<CallId> calls = {};     // what is joined, in an order in which it can run
  std::vector<CallId> operands = {};  // calls of other steps that it reads, each once
  std::vector<CallId> before = {};    // and those that must only have run
  CallId last() const { return calls.back(); }
};

// What of a step depends on which others.
struct StepGraph {
  std::vector<std::vector<std::uint32_t>> needs;  // by step: steps that come before it
  std::vector<std::vector<std::uint32_t>> users;  // and after it
};

// The steps that give the result, each after those it needs, those of earlier operands first.
// `kernel_of_call` is what FuseCalls gives.
std::vector<Step> StepsInPostOrder(const CallGraph& graph, std::span<const CallId> kernel_of_call);

StepGraph DependenciesOf(const CallGraph& graph, std::span<const Step> steps);

}  // namespace steelyard::graph
