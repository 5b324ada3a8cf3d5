// SPDX-License-Identifier: Apache-2.0
//
// Rematerialization, as RAF does it: where steps would hold more than a budget, tensors are let go
// that are cheap to compute again, and are computed again before they are read next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/graph/memory_plan.h"

namespace steelyard::graph {

// The steps with repeated ones among them, so that no more than `budget` bytes are held beside what
// is resident. Nothing where that cannot be.
std::optional<std::vector<Step>> FitByRecomputing(const CallGraph& graph,
                                                  const std::vector<Step>& steps,
                                                  std::int64_t budget, const Target& target);

}  // namespace steelyard::graph
