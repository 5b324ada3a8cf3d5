// SPDX-License-Identifier: Apache-2.0
//
// What a program did while it was watched: how long, in which module and phase, which operators it
// called, and what its memory held where that was highest.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "record/recording.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

inline constexpr std::size_t kWatchedPhases = 5;  // of Phase
using ByPhase = std::array<double, kWatchedPhases>;
inline double& Of(ByPhase& all, Phase phase) { return all[static_cast<std::size_t>(phase)]; }
inline double Of(const ByPhase& all, Phase phase) { return all[static_cast<std::size_t>(phase)]; }
inline double SumOfPhases(const ByPhase& all) {
  return std::accumulate(all.begin(), all.end(), 0.0);
}

// Seconds of one step. What is in none of the three is between them: data, losses, Python.
struct WatchedStep {
  double seconds = 0;
  double forward = 0;       // in modules
  double backward = 0;      // from the first node to the last, recomputing included
  double optimizer = 0;     // in step()
  double to_optimizer = 0;  // from the last node to step(): ranks that share gradients wait there
  double device = 0;        // in which the busiest device ran what the step asked for
  std::int64_t peak = 0;    // bytes, with what was there before
};

// What a module has itself, without its children; the last one of a list stands for what is outside
// of all modules. Of all steps that count.
struct WatchedModule {
  ByPhase seconds{};
  ByPhase device_seconds{};  // of what it asked devices for
  std::int64_t calls = 0;    // without those of recomputing
};

// Equal calls of an operator in one place.
struct WatchedCall {
  std::uint64_t call = 0;  // as in Recording::calls
  std::uint32_t module = SY_NO_ID;
  Phase phase = Phase::kForward;
  std::int64_t count = 0;
  double seconds = 0;
  double device_seconds = 0;  // of what it asked a device for
};

// What devices ran under one name. Of all steps that count.
struct WatchedKernel {
  std::uint32_t name = 0;  // in Recording::names
  SyKernelKind kind = SY_COMPUTE;
  std::int64_t count = 0;
  double seconds = 0;
  double bytes = 0;  // copied or filled

  // More under this name.
  WatchedKernel& operator+=(const WatchedKernel& other) {
    count += other.count;
    seconds += other.seconds;
    bytes += other.bytes;
    return *this;
  }
};

// Where something happened to memory.
struct WatchedPlace {
  std::uint32_t module = SY_NO_ID;
  Phase phase = Phase::kForward;
  std::string what;  // the innermost operator or node; empty: the module's own
};

// How steps were told apart. kModel: one call of a model each or, where there is a backward pass,
// all calls up to it and the pass.
enum class StepBoundary : std::uint8_t { kGiven, kOptimizer, kModel, kNone };

struct Watched {
  Recording recording;  // without its events
  StepBoundary boundary = StepBoundary::kNone;
  std::vector<WatchedStep> steps;  // whole ones, in order
  std::size_t first_counted = 0;   // of them: those before warm up
  std::vector<WatchedModule> modules;
  std::vector<WatchedCall> calls;    // of one step, where operators were recorded of a whole one
  std::vector<WatchedCall> unknown;  // the innermost of those that nobody can weigh
  std::size_t step_of_calls = 0;
  std::vector<WatchedKernel> kernels;  // the longest first
  // Of the step that holds most. An event's node is its place.
  std::size_t step_of_memory = 0;
  std::size_t memory_told = SY_HOST;  // whose memory it is, as SY_HOST says
  std::int64_t reserved_peak = 0;     // what a device's allocator reserves in that step at most
  Timeline timeline;
  std::vector<WatchedPlace> places;
  std::vector<std::uint32_t> tensors;       // by block: a parameter or the like, or SY_NO_ID
  std::vector<std::uint32_t> block_places;  // by block: where it was made, or SY_NO_ID
  std::size_t events = 0;                   // recorded

  std::size_t outside() const { return modules.size() - 1; }
  std::size_t counted_steps() const { return steps.size() - first_counted; }
};

}  // namespace steelyard
