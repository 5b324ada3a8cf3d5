// SPDX-License-Identifier: Apache-2.0
//
// What there is to tell about one weighing: the programs, their timeline, and the numbers that the
// analyses took from them. The builders of this folder read it and compute no more than sums and
// shares.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/casts.h"
#include "analyze/classes.h"
#include "analyze/device_memory.h"
#include "analyze/generation.h"
#include "analyze/kinds.h"
#include "analyze/modules.h"
#include "analyze/parameters.h"
#include "analyze/peak.h"
#include "analyze/training_state.h"
#include "analyze/work.h"
#include "ir/node_numbering.h"
#include "runtime/graph.h"
#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"

namespace steelyard::present {

// Borrowed from whoever weighed; valid while that is.
struct Findings {
  const Program& imported;  // with its sizes bound, before `decompose`
  const Program& kernels;   // after it
  const Timeline& timeline;
  const ParameterReport& parameters;
  const WorkReport& work;
  const PeakReport& peak;
  const TrainingState& training;
  const std::vector<KindReport>& kinds;
  std::string_view runtime = {};        // that it runs in, by its name
  std::string_view runtime_title = {};  // and in words: "Eager PyTorch"
  const GraphRun* graph = nullptr;      // of the graph runtime; none: it runs eagerly
  const PeakReport* moment = nullptr;   // that was asked for; none: the peak's
  const std::vector<ModuleReport>& modules;
  const std::vector<ClassReport>& classes;
  // The work in every convention, where they are to be compared; else empty.
  const std::vector<WorkReport>& counts;
  const Target& target;
  std::string_view path;        // of the file
  std::string_view asked = {};  // the name that `moment` was asked by
  std::string optimizer = {};   // of a training step: "AdamW"; of several, "Muon, AdamW"
  // What a training step does, in order: "forward, loss, backward, AdamW, zero_grad"; empty: one
  // forward pass without gradients.
  std::string step = {};
  bool first_step = false;
  std::int64_t ranks = 1;          // processes of which this is one
  std::string_view parallel = {};  // what wraps the model for them, "ddp"
  // What the table that people know gives the optimizer's state, in bytes for each parameter.
  std::optional<int> textbook_state = {};
  std::string_view autocast = {};      // its dtype, "bfloat16"
  const CastReport* casts = nullptr;   // of mixed precision
  const Baseline* baseline = nullptr;  // without it
  double elapsed_seconds = 0;
  std::span<const StageTime> times = {};            // of the parts of the weighing
  const DeviceMemoryReport* device = nullptr;       // of a device with an allocator that caches
  const Fit* fit = nullptr;                         // of a search for the largest size
  std::span<const DeviceFit> devices = {};          // that were asked for
  std::span<const AllocatorTrial> allocators = {};  // that were compared
  const std::vector<Advice>* advice = nullptr;      // where it was asked for
  const Generation* generation = nullptr;           // of which one call is told
  NodeNumbering numbering{imported};                // of the nodes that kernels come from

  // Of which the memory is told.
  const PeakReport& told() const { return moment != nullptr ? *moment : peak; }
  bool trains() const { return !step.empty(); }
  // What was weighed, in a sentence: "in the step".
  std::string_view run() const { return trains() ? "step" : "pass"; }
  // An operator that nobody modelled may give views, which take no memory, or need scratch; of some
  // kernels that are modelled the scratch is an estimate.
  Claim memory_claim() const {
    const bool exact = work.unmodelled.empty() && !kernels.memory_estimated;
    return exact ? Claim::kExact : Claim::kEstimated;
  }
  // Totals over a program with operators that nobody modelled are lower bounds.
  Claim claim() const { return work.unmodelled.empty() ? Claim::kExact : Claim::kAtLeast; }
  // One lower bound by another bounds nothing, in either direction.
  Claim ratio_claim() const { return claim() == Claim::kExact ? Claim::kExact : Claim::kEstimated; }
};

// What of it a reader asked to see.
struct Shown {
  int depth = 2;                       // levels of the module tree
  int top = 10;                        // operators in the table of operators
  bool classes = false;                // the modules of one class at one depth as one
  bool detailed = false;               // repeated modules one by one, more of the largest tensors
  bool events = false;                 // every allocation and free, in the data
  bool timings = false;                // how long each part of the weighing took
  std::string_view table = "modules";  // what CSV holds; in the data too
};

}  // namespace steelyard::present
