// SPDX-License-Identifier: Apache-2.0
//
// The runtimes that a weighing can choose, one row each.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/graph.h"
#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"
#include "steelyard/weigh.h"

namespace steelyard {

struct Runtime {
  Choice choice;
  // In the head of a report: "Eager PyTorch".
  std::string_view title;
  // It joins and orders the kernels of the whole step: it has schedules and budgets, and is given
  // each micro-step for itself.
  bool compiles;
  // Runs `kernels`, as the options say, and gives the timeline; puts kernels into its order and
  // tells what else it found.
  Result<Timeline> (*run)(const WeighOptions& options, Program* kernels,
                          std::optional<GraphRun>* graph);
};

// The row of that name, or null.
const Runtime* FindRuntime(std::string_view name);

// Runs `kernels` in the runtime that the options name. A usage error when there is no such runtime,
// or one without the schedule or budget that the options ask for; an error when a budget cannot be
// met.
Result<Timeline> RunAsChosen(const WeighOptions& options, Program* kernels,
                             std::optional<GraphRun>* graph);

}  // namespace steelyard
