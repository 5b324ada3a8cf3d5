// SPDX-License-Identifier: Apache-2.0
//
// What a dispatcher has at hand: the variables of the graph that it runs, and how far it came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/graph_plan.h"

namespace steelyard {

struct Dispatcher::Locals {
  const Graph* graph = nullptr;
  const GraphPlan* plan = nullptr;
  std::vector<Tensor> tensors;  // of the plan's range

  Tensor& of(ValueId id) { return tensors[id - plan->first()]; }
  // Undefined for a value that is not of this graph.
  Tensor find(ValueId id) const { return plan->Has(id) ? tensors[id - plan->first()] : Tensor(); }
};

// All that changes while a row runs, apart from tables that may keep what nobody refers to.
struct Dispatcher::Progress {
  std::size_t nodes = 0;
  std::size_t notes = 0;
  FrameId frame = 0;
  std::uint64_t budget = 0;
  std::span<const ValueId> recorded;
  int depth = 0;
  int mismatches = 0;
  bool recording = false;
  bool grad_enabled = false;
  Count bytes;
  std::size_t casts = 0;  // that autocast keeps
};

}  // namespace steelyard
