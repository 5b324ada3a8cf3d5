// SPDX-License-Identifier: Apache-2.0
//
// An order of steps that needs less memory, as RAF's memory_schedule finds it: what frees more than
// it takes comes as early as it can, what takes more than it frees as late as it can.
#pragma once

#include <vector>

#include "runtime/graph/memory_plan.h"

namespace steelyard::graph {

// The steps in the best order that was found; as they are where none is better.
std::vector<Step> ScheduleForMemory(const CallGraph& graph, std::vector<Step> steps,
                                    const Target& target);

}  // namespace steelyard::graph
