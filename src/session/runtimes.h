// SPDX-License-Identifier: Apache-2.0
//
// The runtimes that a weighing can choose, by name.
#pragma once

#include <optional>

#include "runtime/graph.h"
#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"
#include "steelyard/weigh.h"

namespace steelyard {

// Runs `kernels` as the options say and gives the timeline. The graph runtime puts the kernels in
// its order, and gives what else it found. A usage error when there is no such runtime or schedule;
// an error when a budget cannot be met.
Result<Timeline> RunAsChosen(const WeighOptions& options, Program* kernels,
                             std::optional<GraphRun>* graph);

}  // namespace steelyard
