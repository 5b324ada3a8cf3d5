// SPDX-License-Identifier: Apache-2.0
//
// Runs a program again and again and tells how long it takes and what it allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "execute/execution.h"
#include "execute/measurement.h"
#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// The nodes from `begin` to before `end`, which belong to one stage of a step.
struct Stretch {
  std::size_t stage = 0;
  NodeId begin = 0;
  NodeId end = 0;
};
// What is timed of a program: "forward", the loss included, "backward", "optimizer". Micro-steps
// have stretches of their own.
struct Stages {
  std::vector<std::string_view> names;
  std::vector<Stretch> stretches;  // in order: the whole program
};
Stages StagesOf(const Program& kernels);

// What the backward pass begins from, and before which node it does. kNoId where there is none.
struct Seed {
  ValueId loss = kNoId;
  NodeId before = 0;
};
Seed SeedOf(const Program& kernels);

struct MeasureOptions {
  int warmup = 5;   // runs before what counts; more, until they take alike
  int number = 0;   // runs of which a mean is taken; 0: those of a second
  int repeat = 10;  // means
  // In a group of processes that wait for each other all have to run equally often: `warmup` runs
  // and no more, and of a mean as many as `number` says, or 10.
  bool runs_in_group = false;
  const volatile int* stop = nullptr;  // where it is not 0 measuring ends with what there is
  std::function<void(int done, int total)> progress = {};
  // Of the first run, where it is not finite: an error ends the measuring.
  std::function<Status(const Measurement& so_far, const Program& kernels)> check_loss = {};
};

// Of each of these what it takes: they run in turns, repetition by repetition, so that what slows
// the machine down slows all of them down.
Result<std::vector<Measurement>> MeasureInTurns(std::span<Execution> executions,
                                                const MeasureOptions& options);
Result<Measurement> MeasureExecution(Execution& execution, const MeasureOptions& options);

// Where a measured timeline is other than the predicted one, node by node. Requires: both are of
// `kernels`.
std::vector<EventDifference> CompareEvents(const Timeline& predicted, const Timeline& measured,
                                           const Program& kernels);

}  // namespace steelyard
