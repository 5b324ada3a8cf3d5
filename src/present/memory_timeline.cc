// SPDX-License-Identifier: Apache-2.0
//
// The categories are those of PyTorch's timelines, in their order, for those who read its files.
#include "present/memory_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "steelyard/timeline.h"

namespace steelyard::present {
namespace {

using report::MemoryTimeline;
using report::SizesOverTime;

enum Column : std::size_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown
};
constexpr std::array<std::string_view, 8> kColumns{"PARAMETER",       "OPTIMIZER_STATE", "INPUT",
                                                   "TEMPORARY",       "ACTIVATION",      "GRADIENT",
                                                   "AUTOGRAD_DETAIL", "Unknown"};

// Points of a picture.
constexpr std::int64_t kDrawn = 1000;

std::size_t ColumnOf(Category category) {
  switch (category) {
    case Category::kParameters:
    case Category::kBuffers:
      return kParameter;
    case Category::kInputs:
      return kInput;
    case Category::kGradients:
      return kGradient;
    case Category::kOptimizerState:
      return kOptimizerState;
    case Category::kActivations:
    case Category::kOutputs:
      return kActivation;
    case Category::kTemporaries:
      return kTemporary;
    case Category::kCache:
    case Category::kLibraries:
      return kUnknown;
  }
  return kUnknown;
}

void AddSizes(MemoryTimeline& timeline, std::int64_t first) {
  std::array<std::int64_t, kColumns.size()> now{};
  SizesOverTime& all = timeline.all;
  for (const report::BytesChange& change : timeline.changes) {
    const std::int64_t time = (change.at < 0 ? first : change.at) / 1000;
    now[change.category] += change.bytes;
    if (all.times.empty() || time != all.times.back()) {
      all.times.push_back(time);
      all.sizes.resize(all.sizes.size() + now.size());
    }
    std::ranges::copy(now, all.sizes.end() - static_cast<std::ptrdiff_t>(now.size()));
  }
}

std::int64_t TotalAt(const SizesOverTime& all, std::size_t moment) {
  const auto begin = all.sizes.begin() + static_cast<std::ptrdiff_t>(moment * kColumns.size());
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(kColumns.size()),
                         std::int64_t{0});
}

// Of the moments that fall on one point the highest.
void ChooseDrawn(MemoryTimeline& timeline) {
  const SizesOverTime& all = timeline.all;
  if (all.times.empty()) return;
  const std::int64_t span = std::max<std::int64_t>(all.times.back() - all.times.front(), 1);
  std::int64_t last_point = -1;
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < all.times.size(); ++m) {
    const std::int64_t total = TotalAt(all, m);
    timeline.peak = std::max(timeline.peak, total);
    const std::int64_t point = (all.times[m] - all.times.front()) * kDrawn / span;
    if (point != last_point) {
      chosen.push_back(m);
    } else if (total > TotalAt(all, chosen.back())) {
      chosen.back() = m;
    }
    last_point = point;
  }
  for (const std::size_t m : chosen) {
    timeline.drawn.times.push_back(all.times[m]);
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      timeline.drawn.sizes.push_back(all.sizes[m * kColumns.size() + c]);
    }
  }
}

}  // namespace

MemoryTimeline PresentMemory(const std::vector<MemoryMoment>& history, const Recording& clock) {
  MemoryTimeline timeline;
  timeline.categories.assign(kColumns.begin(), kColumns.end());
  const std::int64_t first = std::max<std::int64_t>(clock.unix_nanoseconds, 0);
  for (const MemoryMoment& moment : history) {
    const std::uint64_t since = moment.tick - std::min(moment.tick, clock.first_tick);
    const double seconds = std::min(clock.Seconds(since), 1e9);
    timeline.changes.push_back({.at = moment.tick == 0 ? -1 : first + std::llround(seconds * 1e9),
                                .bytes = moment.bytes,
                                .category = ColumnOf(moment.category)});
  }
  AddSizes(timeline, first);
  ChooseDrawn(timeline);
  return timeline;
}

}  // namespace steelyard::present
