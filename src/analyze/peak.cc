// SPDX-License-Identifier: Apache-2.0

#include "analyze/peak.h"

#include <algorithm>

namespace steelyard {

PeakReport FindPeak(const Timeline& timeline) {
  PeakReport report;
  report.resident = timeline.resident_bytes();
  report.at_peak = timeline.resident;
  std::int64_t now = report.resident;
  report.peak = now;
  for (std::uint32_t i = 0; i < timeline.events.size(); ++i) {
    now += timeline.events[i].bytes;
    if (now <= report.peak) continue;
    report.peak = now;
    report.event = i;
    report.reached_in_step = true;
  }
  report.peak_delta = report.peak - report.resident;
  if (!report.reached_in_step) return report;
  for (std::uint32_t b = 0; b < timeline.blocks.size(); ++b) {
    const Block& block = timeline.blocks[b];
    if (block.bytes == 0 || block.allocated > report.event || block.freed <= report.event) continue;
    Of(report.at_peak, block.category) += block.bytes;
    report.live.push_back(b);
  }
  std::ranges::stable_sort(report.live, [&](std::uint32_t a, std::uint32_t b) {
    return timeline.blocks[a].bytes > timeline.blocks[b].bytes;
  });
  return report;
}

std::vector<std::int64_t> Profile(const Timeline& timeline, int points) {
  const auto count = static_cast<std::size_t>(std::max(points, 1));
  std::vector<std::int64_t> out(count, 0);
  std::int64_t now = timeline.resident_bytes();
  const std::size_t events = timeline.events.size();
  std::size_t at = 0;
  for (std::size_t p = 0; p < count; ++p) {
    out[p] = now;
    for (const std::size_t end = events * (p + 1) / count; at < end; ++at) {
      now += timeline.events[at].bytes;
      out[p] = std::max(out[p], now);
    }
  }
  return out;
}

}  // namespace steelyard
