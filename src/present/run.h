// SPDX-License-Identifier: Apache-2.0
//
// What a run took and allocated, next to what was predicted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "execute/measurement.h"
#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Borrowed, as Findings are.
struct Run {
  const Findings& findings;
  const Measurement& measurement;
  const std::vector<EventDifference>& differences;
  std::string_view torch;  // its version
  int threads = 1;
  std::uint64_t seed = 0;
  std::int64_t peak = 0;  // bytes, as the others
  std::int64_t predicted_peak = 0;
  std::int64_t process_peak = 0;
  std::int64_t samples = 0;               // of one run; 0: nobody can tell
  std::int64_t tokens = 0;                // the same
  const DeviceUse* device_use = nullptr;  // of the CPU: none
  const DevicePeak* device_peak = nullptr;
  std::string where_not_finite = {};  // of a loss that is not finite: where it first was
};

void PresentRun(const Run& run, const Shown& shown, report::Document* document);

// Parts of it: the data, into the object that is open, and what the reader should know of how it
// was measured. `name` tells the run from another; empty where there is none.
void AddRun(const Run& run, report::Data* data);
void AppendRemarks(const Run& run, std::string_view name, report::Document* document);

}  // namespace steelyard::present
