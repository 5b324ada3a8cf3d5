// SPDX-License-Identifier: Apache-2.0
//
// What a program did while it was watched: times, memory, work, by phase and by module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/peak.h"
#include "analyze/work.h"
#include "present/findings.h"
#include "record/watched.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Borrowed, as Findings are.
struct Watch {
  const Watched& watched;
  const PeakReport& peak;
  // By call of `watched.calls`: of all that are equal. Empty: operators were not recorded.
  const std::vector<NodeWork>& work;
};

// What a module does and holds, with or without its children. Seconds of a step.
struct WatchRow {
  ByPhase seconds{};
  ByPhase device_seconds{};
  double calls = 0;  // in a step
  std::int64_t parameters = 0, parameter_bytes = 0;
  NodeWork forward, backward;  // recomputing is backward
  ByCategory at_peak{};

  WatchRow& operator+=(const WatchRow& other);
  double backward_seconds() const {
    return Of(seconds, Phase::kBackward) + Of(seconds, Phase::kRecompute);
  }
  double all_seconds() const { return SumOfPhases(seconds); }
  double all_device_seconds() const { return SumOfPhases(device_seconds); }
  std::int64_t peak_bytes() const;
};

struct WatchTree {
  std::vector<WatchRow> own;  // by module, the last one of what is outside of all
  std::vector<WatchRow> all;  // with their children
  std::vector<int> depths;
  std::vector<std::vector<std::uint32_t>> children;  // by module
  std::vector<std::uint32_t> roots;
};
WatchTree TreeOf(const Watch& watch);

// Calls of one operator.
struct WatchedOperator {
  std::string name;
  std::int64_t calls = 0;
  double seconds = 0, device_seconds = 0;
  NodeWork work;
  bool modelled = true;
};
// The longest first.
std::vector<WatchedOperator> OperatorsOf(const Watch& watch);

// "SimpleModel", or what there is instead.
std::string WatchedName(const Watched& watched);
// "encoder.layer.0"; the class of a model; "(outside)".
std::string ModuleName(const Watched& watched, std::uint32_t module);
// "aten::mm in head", "aten::sqrt in the optimizer".
std::string PlaceName(const Watched& watched, const WatchedPlace& place);
// "gradient of encoder.layer.0.weight", or the place where it was made.
std::string BlockName(const Watched& watched, std::size_t block);
std::string KernelName(const Watched& watched, const WatchedKernel& kernel);
// "cuda:0" where it is a device's memory that is told of; empty for the host's.
std::string DeviceTold(const Watched& watched);

void PresentWatch(const Watch& watch, const Shown& shown, report::Document* document);
void AddWatchData(const Watch& watch, report::Data* data);

}  // namespace steelyard::present
