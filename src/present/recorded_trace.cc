// SPDX-License-Identifier: Apache-2.0
//
// Threads are put into one order by time, and what tools draw between spans is found: from an
// operator to the node of autograd that it made, from a function to the one it was called by.
#include "present/recorded_trace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/key_averages.h"

namespace steelyard::present {
namespace {

using report::RecordedKind;
using report::RecordedTrace;

// Seconds; a record that says more is damaged.
constexpr double kLongest = 1e9;
// Tensors of a list whose sizes PyTorch's traces tell (TENSOR_LIST_DISPLAY_LENGTH_LIMIT).
constexpr std::ptrdiff_t kLongestList = 30;

RecordedKind KindOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOp:
    case SpanKind::kNode:
    case SpanKind::kEngine:
      return RecordedKind::kOperator;
    case SpanKind::kRange:
      return RecordedKind::kAnnotation;
    case SpanKind::kFunction:
    case SpanKind::kModule:
      return RecordedKind::kFunction;
  }
  return RecordedKind::kOperator;
}

class Presenter {
 public:
  explicit Presenter(const Spans& spans) : spans_(spans) {}

  RecordedTrace Present() && {
    trace_.begin = std::max<std::int64_t>(spans_.recording.unix_nanoseconds, 0);
    trace_.end = Nanoseconds(spans_.recording.last_tick);
    trace_.process = spans_.recording.process;
    trace_.names = spans_.names;
    trace_.threads = spans_.threads;
    AddSpans();
    AddArrows();
    for (const MemoryChange& change : spans_.memory) {
      trace_.memory.push_back({.at = Nanoseconds(change.tick),
                               .address = change.address,
                               .bytes = change.bytes,
                               .total = change.total,
                               .thread = change.thread});
    }
    for (const DeviceSpan& span : spans_.device) AddDevice(span);
    return std::move(trace_);
  }

 private:
  std::int64_t Nanoseconds(std::uint64_t tick) const {
    const std::uint64_t first = spans_.recording.first_tick;
    const double seconds = spans_.recording.Seconds(tick - std::min(tick, first));
    return std::llround(std::min(seconds, kLongest) * 1e9);
  }

  void AddSpans() {
    // Of one thread they are in order already; of two that begin at once the outer one comes first.
    std::vector<std::uint32_t> order(spans_.spans.size());
    for (std::uint32_t s = 0; s < order.size(); ++s) order[s] = s;
    if (spans_.threads.size() > 1) {
      std::ranges::stable_sort(order, {}, [&](std::uint32_t s) { return spans_.spans[s].begin; });
    }
    place_.resize(order.size());
    trace_.spans.reserve(order.size());
    std::vector<std::uint32_t> function_around(order.size(), report::kNone);
    for (const std::uint32_t s : order) {
      const Span& span = spans_.spans[s];
      place_[s] = static_cast<std::uint32_t>(trace_.spans.size());
      const RecordedKind kind = KindOf(span.kind);
      const std::uint32_t around =
          span.parent == SY_NO_ID ? report::kNone : function_around[span.parent];
      function_around[s] = kind == RecordedKind::kFunction ? place_[s] : around;
      trace_.spans.push_back({.begin = Nanoseconds(span.begin),
                              .end = Nanoseconds(span.end),
                              .sequence = span.sequence == SY_NO_SEQUENCE
                                              ? -1
                                              : static_cast<std::int64_t>(span.sequence),
                              .name = span.name,
                              .inputs = InputsOf(span),
                              .module = ModuleOf(span.module),
                              .parent = around,
                              .thread = span.thread,
                              .forward_thread = span.forward_thread,
                              .kind = kind});
    }
  }

  std::uint32_t InputsOf(const Span& span) {
    if (!spans_.recording.has_inputs || span.inputs == 0) return report::kNone;
    const auto [found, is_new] = inputs_.try_emplace(span.inputs, report::kNone);
    if (!is_new) return found->second;
    const auto known = spans_.recording.inputs.find(span.inputs);
    if (known == spans_.recording.inputs.end() || known->second.empty()) return report::kNone;
    found->second = static_cast<std::uint32_t>(trace_.inputs.size());
    std::vector<report::RecordedValue>& values = trace_.inputs.emplace_back();
    for (const RecordedInput& input : known->second) {
      const bool fits = std::ranges::count(input.sizes, '[') <= 1 + kLongestList;
      values.push_back(
          {fits ? input.sizes : "[]", fits ? input.strides : "[]", input.type, input.value});
    }
    return found->second;
  }

  std::uint32_t ModuleOf(std::uint32_t module) {
    if (module >= spans_.recording.modules.size()) return report::kNone;
    const auto [found, is_new] =
        modules_.try_emplace(module, static_cast<std::uint32_t>(trace_.names.size()));
    if (is_new) {
      const RecordedModule& of = spans_.recording.modules[module];
      trace_.names.push_back(of.path.empty() ? of.class_name : of.path);
    }
    return found->second;
  }

  static report::RecordedWork WorkOf(SyKernelKind kind) {
    switch (kind) {
      case SY_COPY:
        return report::RecordedWork::kCopy;
      case SY_FILL:
        return report::RecordedWork::kFill;
      case SY_COMPUTE:
        break;
    }
    return report::RecordedWork::kKernel;
  }

  void AddDevice(const DeviceSpan& span) {
    const bool asked = span.asked != 0;
    trace_.device.push_back({.begin = Nanoseconds(span.begin),
                             .end = Nanoseconds(span.end),
                             .asked = asked ? Nanoseconds(span.asked) : -1,
                             .asked_end = asked ? Nanoseconds(span.asked_end) : -1,
                             .bytes = static_cast<std::int64_t>(span.bytes),
                             .name = span.name,
                             .call = span.call,
                             .span = span.span == SY_NO_ID ? report::kNone : place_[span.span],
                             .stream = span.stream,
                             .device = span.device,
                             .thread = span.thread,
                             .work = WorkOf(span.kind)});
  }

  void AddArrows() {
    const Stacks stacks(spans_);
    for (std::uint32_t s = 0; s < spans_.spans.size(); ++s) {
      const std::uint32_t maker = stacks.MakerOf(spans_.spans[s]);
      if (maker != SY_NO_ID) trace_.arrows.push_back({place_[maker], place_[s]});
    }
  }

  const Spans& spans_;
  RecordedTrace trace_;
  std::vector<std::uint32_t> place_;  // in the trace, by span
  std::unordered_map<std::uint64_t, std::uint32_t> inputs_;
  std::unordered_map<std::uint32_t, std::uint32_t> modules_;
};

}  // namespace

RecordedTrace PresentSpans(const Spans& spans) { return Presenter(spans).Present(); }

}  // namespace steelyard::present
