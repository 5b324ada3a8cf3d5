// SPDX-License-Identifier: Apache-2.0
//
// Time here is order: the n-th kernel runs from step n to n + 1. Its allocations are spread evenly
// inside it; what the program lets go between two kernels goes on the border.
#include "present/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/trace.h"
#include "ir/text_words.h"
#include "present/findings.h"
#include "present/names.h"
#include "present/tensors.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Slice;
using report::TraceDetail;

constexpr std::int64_t kStep = 1000;  // ticks

// What a slice stands for, so that the next kernel can tell whether it is still inside.
enum class Level : std::uint8_t { kPhase, kModule, kOperator, kKernel };
struct Place {
  Level level;
  std::uint32_t id;
  NodeId call = kNoId;  // of operators: the node of the model

  friend bool operator==(const Place&, const Place&) = default;
};

class SliceBuilder {
 public:
  SliceBuilder(const Findings& findings, report::Trace* trace)
      : findings_(findings), program_(findings.kernels), trace_(*trace) {}

  // Where each node begins, in ticks; one entry more for the end.
  std::vector<std::int64_t> Build() {
    const std::vector<Node>& nodes = program_.main().nodes;
    std::vector<std::int64_t> begins;
    begins.reserve(nodes.size() + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      begins.push_back(now_);
      if (program_.is_drop(nodes[i])) continue;
      Enter(nodes[i], i);
      now_ += kStep;
    }
    CloseTo(0);
    begins.push_back(now_);
    return begins;
  }

 private:
  // From the outside in.
  std::vector<Place> PlacesOf(const Node& kernel, std::size_t node) const {
    std::vector<Place> places;
    for (FrameId f = kernel.frame; f != 0; f = program_.frames[f].parent) {
      places.push_back({Level::kOperator, f, kernel.origin});
    }
    for (ModuleId m = kernel.module; m != kNoId; m = program_.modules[m].parent) {
      places.push_back({Level::kModule, m});
    }
    places.push_back({Level::kPhase, static_cast<std::uint32_t>(kernel.phase)});
    std::ranges::reverse(places);
    places.push_back({Level::kKernel, static_cast<std::uint32_t>(node)});
    return places;
  }

  void Enter(const Node& kernel, std::size_t node) {
    const std::vector<Place> places = PlacesOf(kernel, node);
    std::size_t same = 0;
    while (same < open_.size() && same < places.size() && open_[same].first == places[same]) ++same;
    CloseTo(same);
    for (std::size_t i = same; i < places.size(); ++i) {
      open_.emplace_back(places[i], trace_.slices.size());
      trace_.slices.push_back(SliceOf(places[i]));
    }
  }

  void CloseTo(std::size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) trace_.slices[open_.back().second].end = now_;
  }

  Slice SliceOf(const Place& place) const {
    switch (place.level) {
      case Level::kPhase:
        return {.name = std::string(WordOf(static_cast<Phase>(place.id))),
                .category = "phase",
                .begin = now_};
      case Level::kModule:
        return ModuleSlice(program_.modules[place.id]);
      case Level::kOperator:
        return {.name = std::string(program_.op_name(program_.frames[place.id].op)),
                .category = "operator",
                .begin = now_};
      case Level::kKernel:
        return KernelSlice(place.id);
    }
    __builtin_unreachable();
  }

  Slice ModuleSlice(const Module& module) const {
    const std::string_view path = program_.text(module.path);
    const std::string_view class_name = ShortClass(program_.text(module.class_name));
    if (module.parent == kNoId) {
      return {.name = std::string(ModelName(program_)), .category = "module", .begin = now_};
    }
    const std::string_view parent = program_.text(program_.modules[module.parent].path);
    return {.name = fmt::format("{}: {}", RelativePath(path, parent), class_name),
            .category = "module",
            .begin = now_,
            .details = {{"path", std::string(path)}}};
  }

  Slice KernelSlice(std::size_t node) const {
    const Node& kernel = program_.main().nodes[node];
    const NodeWork& work = findings_.work.by_node[node];
    Slice slice{
        .name = std::string(program_.op_name(kernel.op)), .category = "kernel", .begin = now_};
    const std::string results = ResultsText(program_, kernel);
    if (!results.empty()) slice.details.push_back({"results", results});
    const auto add = [&](std::string_view key, std::int64_t value) {
      if (value > 0) slice.details.push_back({key, value});
    };
    add("macs", work.macs);
    add("flops_all", work.flops_all);
    add("bytes_read", work.read);
    add("bytes_written", work.written);
    const std::string source = SourceText(program_, kernel.source);
    if (!source.empty()) slice.details.push_back({"source", source});
    return slice;
  }

  const Findings& findings_;
  const Program& program_;
  report::Trace& trace_;
  std::vector<std::pair<Place, std::size_t>> open_;  // with the index of the slice
  std::int64_t now_ = 0;
};

// When each event happens. `begins` is where each node does.
std::vector<std::int64_t> TimesOf(const Timeline& timeline,
                                  const std::vector<std::int64_t>& begins) {
  const std::vector<Event>& events = timeline.events;
  std::vector<std::int64_t> times(events.size());
  for (std::size_t i = 0; i < events.size();) {
    std::size_t end = i;
    while (end < events.size() && events[end].node == events[i].node) ++end;
    const std::size_t node = std::min<std::size_t>(events[i].node, begins.size() - 1);
    const std::int64_t length = node + 1 < begins.size() ? begins[node + 1] - begins[node] : 0;
    const auto count = static_cast<std::int64_t>(end - i);
    for (std::int64_t k = 1; i < end; ++i, ++k) {
      times[i] = begins[node] + k * length / (count + 1);
    }
  }
  return times;
}

void AddMemory(const Findings& findings, const std::vector<std::int64_t>& times,
               report::Trace* trace) {
  const Timeline& timeline = findings.timeline;
  ByCategory now = timeline.resident;
  std::int64_t total = timeline.resident_bytes();
  report::Counter all{.name = "memory", .unit = Unit::kBytes, .samples = {{0, total}}};
  std::array<report::Counter, kCategoryCount> by_category;
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    by_category[c].name = std::string(NameOf(static_cast<Category>(c)));
    by_category[c].unit = Unit::kBytes;
    by_category[c].samples.push_back({0, now[c]});
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Event& event = timeline.events[i];
    const auto category = static_cast<std::size_t>(timeline.blocks[event.block].category);
    total += event.bytes;
    now[category] += event.bytes;
    all.samples.push_back({times[i], total});
    by_category[category].samples.push_back({times[i], now[category]});
  }
  trace->counters.push_back(std::move(all));
  for (report::Counter& counter : by_category) {
    const bool shown = counter.samples.size() > 1 || counter.samples.front().value > 0;
    if (shown) trace->counters.push_back(std::move(counter));
  }
}

}  // namespace

void PresentTrace(const Findings& findings, report::Document* document) {
  report::Trace trace;
  trace.name = std::string(ModelName(findings.kernels));
  trace.clock =
      "a microsecond stands for one kernel: the axis shows the order of things, not how long they "
      "take";
  trace.ticks_per_unit = kStep;
  const std::vector<std::int64_t> begins = SliceBuilder(findings, &trace).Build();
  const std::vector<std::int64_t> times = TimesOf(findings.timeline, begins);
  AddMemory(findings, times, &trace);
  if (findings.peak.reached_in_step) {
    trace.moments.push_back({.name = "peak",
                             .at = times[findings.peak.event],
                             .details = {{"bytes", findings.peak.peak}}});
  }
  document->trace = std::make_shared<const report::Trace>(std::move(trace));
}

}  // namespace steelyard::present
