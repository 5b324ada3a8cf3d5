// SPDX-License-Identifier: Apache-2.0

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

std::string_view WithoutOverload(std::string_view op) { return op.substr(0, op.find('.')); }
std::string_view WithoutNamespace(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

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
    calls_ = static_cast<int>(origins.size());
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
      if (node.op == kernels_.FindOpName(kDropMark)) return false;
      if (IsCalled(kernels_.op_name(node.op), name)) return true;
      return origin != nullptr && IsCalled(imported_.op_name(origin->op), name);
    });
  }
  bool has(std::size_t node) const { return node < nodes_.size() && nodes_[node]; }
  int calls() const { return calls_; }

 private:
  const Program& imported_;
  const Program& kernels_;
  NodeNumbering numbering_;
  std::vector<bool> nodes_;
  int calls_ = 0;
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
