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
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/program.h"
#include "steelyard/tables.h"
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

// Where a number that is not finite first was: in what a kernel made, or in a tensor that was there
// before anything ran.
struct Origin {
  NodeId kernel = kNoId;
  std::string tensor = {};  // its name, where it is no kernel
};

// Where the NaN of a loss came from and, where that was made of infinities, where these did; or
// where its infinity did.
struct NotFinite {
  std::optional<Origin> nan;
  std::optional<Origin> infinity;
};

struct Measurement {
  std::vector<StageTimes> stages;  // in the order in which they first run
  std::vector<double> seconds;     // by node of the kernels: the mean of runs timed node by node
  Timeline timeline;               // every allocation and free of one run
  // Peaks of the allocator of a device in that run, in bytes; 0 where there is none that caches.
  std::int64_t allocated_peak = 0;
  std::int64_t reserved_peak = 0;
  std::optional<double> loss;           // of the first run, where there is a backward pass of it
  std::optional<NotFinite> not_finite;  // of a loss that is not; nothing: it cannot be told
  int warmups = 0;                      // runs before those that count
  int runs = 0;                         // those that count
  int detailed_runs = 0;                // after them: those timed node by node
  int skipped_steps = 0;                // that a gradient scaler had left out, of all runs
  bool is_stable = false;               // the last of the warm-ups took alike
  bool has_memory = false;              // a whole run was listened to
  bool was_interrupted = false;         // it ended early, with what there was
};

// The middle of several numbers, and the ends of their range. All 0 where there are none.
struct Spread {
  double median = 0;
  double lowest = 0;
  double highest = 0;
};
[[nodiscard]] Spread SpreadOf(std::span<const double> values);

// How many times as much one of two takes that were measured in turns: the median of the ratios of
// pairs, and the two of these between which the true median is with that confidence, whatever their
// distribution. The confidence is 95 % or more where there are six pairs or more; it is 0 of one.
struct PairedRatio {
  double median = 0;
  double lowest = 0;
  double highest = 0;
  double confidence = 0;
  int pairs = 0;
};
// Of `after` to `before`, as far as there are both; all 0 where there is no pair.
[[nodiscard]] PairedRatio RatioOf(std::span<const double> before, std::span<const double> after);

struct StageRatio {
  std::string_view stage;
  PairedRatio ratio;
};

// What all stages together are called, and their seconds, repetition by repetition.
inline constexpr std::string_view kWholeStep = "step";
[[nodiscard]] std::vector<double> SecondsOfRuns(const Measurement& measurement);

// A device that is not the CPU, and what the process takes of it when all has been measured. What
// NVIDIA's management library does not tell is empty or 0.
struct DeviceUse {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::string driver;        // its version
  std::int64_t process = 0;  // bytes
  // Of these, what PyTorch's allocator has not reserved: the CUDA context, kernels, libraries.
  std::int64_t besides = 0;
};

// What a device can compute in a second at most.
struct DevicePeak {
  double flops_per_second = 0;
  bool is_measured = false;       // by a product of square matrices; else the caller gave it, or
                                  // the device's data sheet
  DType dtype = DType::kFloat32;  // of these matrices
  std::int64_t size = 0;          // their rows
  std::string_view device = {};   // whose data sheet says it: "h100"
};

}  // namespace steelyard
