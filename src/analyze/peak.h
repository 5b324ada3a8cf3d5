// SPDX-License-Identifier: Apache-2.0
//
// Where memory is highest, and what fills it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

struct PeakReport {
  std::int64_t resident = 0;        // bytes before the first event
  std::int64_t peak = 0;            // highest total, resident included
  std::int64_t peak_delta = 0;      // peak - resident
  std::uint32_t event = 0;          // the allocation that reaches it (the first, if several do)
  bool reached_in_step = false;     // false: nothing is allocated above the resident bytes
  std::int64_t calls = 1;           // among which it is the highest
  ByCategory at_peak{};             // sums to `peak`
  std::vector<std::uint32_t> live;  // blocks alive there, largest first
};

// Parts of an operator's name: "aten::add" of "aten::add.Tensor", as PyTorch's profiler prints it,
// and "add" of "aten::add".
inline std::string_view WithoutOverload(std::string_view op) { return op.substr(0, op.find('.')); }
inline std::string_view WithoutNamespace(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

PeakReport FindPeak(const Timeline& timeline);

// The same at the calls of `name`, wherever most is held during one of them: all calls of the
// operator of this name, with or without its overload and namespace, else the call whose result has
// this name in the imported program. Nothing where there is none.
std::optional<PeakReport> FindMoment(const Program& imported, const Program& kernels,
                                     const Timeline& timeline, std::string_view name);

// What is held at a moment: the parts sum to the total.
struct Level {
  std::int64_t total = 0;
  ByCategory parts{};

  void Add(std::int64_t bytes, Category category) {
    total += bytes;
    parts[static_cast<std::size_t>(category)] += bytes;
  }
};

// The highest level in each of `points` equal stretches of the timeline, so that a peak is never
// lost. For charts.
std::vector<Level> Profile(const Timeline& timeline, int points);

}  // namespace steelyard
