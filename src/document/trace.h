// SPDX-License-Identifier: Apache-2.0
//
// A run as a picture over time: slices that nest, and values that change. A report has one for
// viewers of traces (ui.perfetto.dev, chrome://tracing).
//
//   report::Trace trace;
//   trace.slices.push_back({.name = "aten::linear", .category = "operator", .begin = 0, .end = 1});
//   trace.counters.push_back({.name = "memory", .unit = Unit::kBytes, .samples = {{0, 4096}}});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "steelyard/units.h"

namespace steelyard::report {

// Something to know about a slice: `macs`, 57'982'058'496.
struct TraceDetail {
  std::string_view key;  // A word that outlives the trace.
  std::variant<std::int64_t, std::string> value;
};

// A stretch of the run. Slices nest: of two that overlap one lies within the other, and the outer
// one comes first in the list.
struct Slice {
  std::string name = {};
  std::string_view category = {};  // "phase", "module", "operator", "kernel"
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<TraceDetail> details = {};
};

// The value holds from `at` on, until the next sample. `at` never decreases.
struct Sample {
  std::int64_t at = 0;
  std::int64_t value = 0;
};
struct Counter {
  std::string name = {};
  Unit unit = Unit::kNone;
  std::vector<Sample> samples = {};
};

// A point in time with a name, such as the peak.
struct Moment {
  std::string name = {};
  std::int64_t at = 0;
  std::vector<TraceDetail> details = {};
};

struct Trace {
  std::string name = {};               // of what ran
  std::string clock = {};              // what the time axis shows, in a sentence
  std::int64_t ticks_per_unit = 1000;  // how many of `begin`, `end` and `at` make one unit of it
  std::vector<Slice> slices = {};
  std::vector<Counter> counters = {};
  std::vector<Moment> moments = {};
};

}  // namespace steelyard::report
