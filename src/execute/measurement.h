// SPDX-License-Identifier: Apache-2.0
//
// What was measured of a program that ran: how long it took, and every allocation and free.
//
//   const Measurement& measured = running.measurement;  // run.h
//   for (const StageTimes& stage : measured.stages) {
//     const Spread seconds = SpreadOf(stage.seconds);  // seconds.median
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// What a stage of a step took, in seconds: "forward", with the loss, "backward" or "optimizer". One
// number for each repetition, the mean of its runs. The name lives as long as the program.
struct StageTimes {
  std::string_view name;
  std::vector<double> seconds;
};

// A node of the kernels whose allocations and frees were others than predicted, in signed bytes and
// in order. The node after the last stands for what the caller lets go in the end.
struct EventDifference {
  NodeId node = 0;
  std::vector<std::int64_t> predicted;
  std::vector<std::int64_t> measured;
};

struct Measurement {
  std::vector<StageTimes> stages;  // in the order in which they first run
  std::vector<double> seconds;     // by node of the kernels: the mean of runs timed node by node
  Timeline timeline;               // every allocation and free of one run
  std::optional<double> loss;      // of the first run, where there is a backward pass of it
  int warmups = 0;                 // runs before those that count
  int runs = 0;                    // those that count
  bool is_stable = false;          // the last of the warm-ups took alike
  bool was_interrupted = false;    // it ended early, with what there was
};

// The middle of several numbers, and the ends of their range. All 0 where there are none.
struct Spread {
  double median = 0;
  double lowest = 0;
  double highest = 0;
};
[[nodiscard]] Spread SpreadOf(std::span<const double> values);

}  // namespace steelyard
