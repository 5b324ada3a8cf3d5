// SPDX-License-Identifier: Apache-2.0
//
// The peak is the first of the highest totals, events added up one by one; what is alive there
// follows from where each block is made and freed. A chart goes through repeated events as often as
// they happen, but takes whole runs of them at once: each ends at the total at which it began.

#include "analyze/peak.h"

#include <algorithm>
#include <cstddef>

#include "ir/node_numbering.h"

namespace steelyard {
namespace {

// What is alive right after the event.
void FillIn(const Timeline& timeline, PeakReport* report) {
  report->at_peak = timeline.resident;
  report->peak_delta = report->peak - report->resident;
  if (!report->reached_in_step) return;
  for (std::uint32_t b = 0; b < timeline.blocks.size(); ++b) {
    const Block& block = timeline.blocks[b];
    if (block.resident) {
      if (block.freed <= report->event) Of(report->at_peak, block.category) -= block.bytes;
      continue;
    }
    if (block.bytes == 0 || block.allocated > report->event || block.freed <= report->event) {
      continue;
    }
    Of(report->at_peak, block.category) += block.bytes;
    report->live.push_back(b);
  }
  std::ranges::stable_sort(report->live, [&](std::uint32_t a, std::uint32_t b) {
    return timeline.blocks[a].bytes > timeline.blocks[b].bytes;
  });
}

}  // namespace

PeakReport FindPeak(const Timeline& timeline) {
  PeakReport report;
  report.resident = timeline.resident_bytes();
  std::int64_t now = report.resident;
  report.peak = now;
  for (std::uint32_t i = 0; i < timeline.events.size(); ++i) {
    now += timeline.events[i].bytes;
    if (now <= report.peak) continue;
    report.peak = now;
    report.event = i;
    report.reached_in_step = true;
  }
  FillIn(timeline, &report);
  return report;
}

namespace {

bool IsCalled(std::string_view op, std::string_view name) {
  const std::string_view base = WithoutOverload(op);
  return name == op || name == base || name == WithoutNamespace(base) ||
         name == WithoutNamespace(op);
}

// Which kernels run during the calls, and how many calls there are.
class Chosen {
 public:
  Chosen(const Program& imported, const Program& kernels)
      : imported_(imported), kernels_(kernels), numbering_(imported) {}

  template <class Matches>
  bool Choose(const Matches& matches) {
    nodes_.assign(kernels_.main().nodes.size(), false);
    std::vector<NodeId> origins;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = kernels_.main().nodes[i];
      const Node* origin = node.origin == kNoId ? nullptr : &numbering_.node(node.origin);
      nodes_[i] = matches(node, origin);
      if (nodes_[i]) origins.push_back(node.origin == kNoId ? static_cast<NodeId>(i) : node.origin);
    }
    std::ranges::sort(origins);
    origins.erase(std::ranges::unique(origins).begin(), origins.end());
    calls_ = 0;
    for (const NodeId origin : origins) calls_ += imported_.times(origin);
    return calls_ > 0;
  }

  bool ByResult(std::string_view name) {
    return Choose([&](const Node&, const Node* origin) {
      if (origin == nullptr) return false;
      return std::ranges::any_of(imported_.results(*origin), [&](ValueId id) {
        return id != kNoId && imported_.text(imported_.values[id].name) == name;
      });
    });
  }
  bool ByOperator(std::string_view name) {
    return Choose([&](const Node& node, const Node* origin) {
      if (kernels_.is_drop(node)) return false;
      if (IsCalled(kernels_.op_name(node.op), name)) return true;
      return origin != nullptr && IsCalled(imported_.op_name(origin->op), name);
    });
  }
  bool has(std::size_t node) const { return node < nodes_.size() && nodes_[node]; }
  std::int64_t calls() const { return calls_; }

 private:
  const Program& imported_;
  const Program& kernels_;
  NodeNumbering numbering_;
  std::vector<bool> nodes_;
  std::int64_t calls_ = 0;
};

}  // namespace

std::optional<PeakReport> FindMoment(const Program& imported, const Program& kernels,
                                     const Timeline& timeline, std::string_view name) {
  Chosen chosen(imported, kernels);
  if (!chosen.ByOperator(name) && !chosen.ByResult(name)) return std::nullopt;
  PeakReport report;
  report.resident = timeline.resident_bytes();
  report.calls = chosen.calls();
  std::int64_t now = report.resident;
  std::uint32_t next = 0;
  bool any = false;
  const auto look = [&] {
    if (any && now <= report.peak) return;
    any = true;
    report.peak = now;
    report.reached_in_step = next > 0;
    report.event = next > 0 ? next - 1 : 0;
  };
  for (std::size_t node = 0; node < kernels.main().nodes.size(); ++node) {
    const bool counts = chosen.has(node);
    if (counts) look();  // what a view takes no memory for is held around it
    for (; next < timeline.events.size() && timeline.events[next].node <= node;) {
      now += timeline.events[next++].bytes;
      if (counts) look();
    }
  }
  FillIn(timeline, &report);
  return report;
}

namespace {

// Goes through the events as they happen, repeated ones as often as they do.
class Levels {
 public:
  explicit Levels(const Timeline& timeline)
      : timeline_(timeline),
        first_(timeline.repeat.first),
        count_(timeline.repeat.count),
        end_(first_ + count_ * timeline.repeat.times),
        now_{timeline.resident_bytes(), timeline.resident} {
    Level level;
    for (std::int64_t i = first_; i < first_ + count_; ++i) {
      Happen(static_cast<std::size_t>(i), &level);
      if (level.total > rise_.total) rise_ = level;
    }
  }

  // The highest total from the present one to that before the event at `end`.
  Level HighestUpTo(std::int64_t end) {
    Level highest = now_;
    while (place_ < end) {
      if (const std::int64_t runs = WholeRunsUpTo(end); runs > 0) {
        if (now_.total + rise_.total > highest.total) {
          highest = now_;
          highest.total += rise_.total;
          for (std::size_t c = 0; c < kCategoryCount; ++c) highest.parts[c] += rise_.parts[c];
        }
        place_ += runs * count_;
        continue;
      }
      Happen(Index(place_++), &now_);
      if (now_.total > highest.total) highest = now_;
    }
    return highest;
  }

 private:
  void Happen(std::size_t event, Level* level) const {
    const Event& happens = timeline_.events[event];
    level->Add(happens.bytes, timeline_.blocks[happens.block].category);
  }
  // Runs of the repeated events that begin here and need not be gone through: they end at the total
  // at which they begin.
  std::int64_t WholeRunsUpTo(std::int64_t end) const {
    const bool begins = place_ >= first_ && place_ < end_ && (place_ - first_) % count_ == 0;
    return begins ? (std::min(end, end_) - place_) / count_ : 0;
  }
  std::size_t Index(std::int64_t place) const {
    if (place >= end_) return static_cast<std::size_t>(place - (end_ - first_ - count_));
    const bool repeated = place >= first_;
    return static_cast<std::size_t>(repeated ? first_ + (place - first_) % count_ : place);
  }

  const Timeline& timeline_;
  std::int64_t first_, count_, end_;  // of repeated events, and where their last run ends
  Level rise_;                        // during one run
  Level now_;
  std::int64_t place_ = 0;
};

// `whole` * `part` / `parts`, which the product may exceed.
std::int64_t ShareOf(std::int64_t whole, std::int64_t part, std::int64_t parts) {
  return whole / parts * part + whole % parts * part / parts;
}

}  // namespace

std::vector<Level> Profile(const Timeline& timeline, int points) {
  const std::int64_t count = std::max(points, 1);
  std::vector<Level> out;
  out.reserve(static_cast<std::size_t>(count));
  Levels levels(timeline);
  for (std::int64_t p = 1; p <= count; ++p) {
    out.push_back(levels.HighestUpTo(ShareOf(timeline.length(), p, count)));
  }
  return out;
}

}  // namespace steelyard
