// SPDX-License-Identifier: Apache-2.0
#include "record/folded_stacks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

#include "record/key_averages.h"

namespace steelyard {
namespace {

// Semicolons stand between frames, and a space before the number.
std::string Frame(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == ';' || c == '\t' || c == '\n'; }, '_');
  return name;
}

// By span.
std::vector<std::uint64_t> OwnTicks(const Spans& spans, StackTime time) {
  std::vector<std::uint64_t> own(spans.spans.size(), 0);
  if (time == StackTime::kDevice) {
    for (const DeviceSpan& device : spans.device) {
      if (device.span != SY_NO_ID) own[device.span] += device.end - device.begin;
    }
    return own;
  }
  for (std::size_t s = 0; s < own.size(); ++s) {
    const std::uint64_t whole = spans.spans[s].end - spans.spans[s].begin;
    own[s] = whole - std::min(whole, spans.spans[s].inner);
  }
  return own;
}

}  // namespace

std::vector<FoldedStack> FoldStacks(const Spans& spans, StackTime time_of) {
  const Stacks stacks(spans);
  const std::vector<std::uint64_t> own = OwnTicks(spans, time_of);
  std::map<std::vector<std::uint32_t>, std::uint64_t> ticks;  // names, the innermost first
  for (std::uint32_t s = 0; s < spans.spans.size(); ++s) {
    const Span& span = spans.spans[s];
    if (span.kind == SpanKind::kFunction || span.kind == SpanKind::kModule) continue;
    std::vector<std::uint32_t> names = stacks.Of(s, std::numeric_limits<std::size_t>::max());
    if (names.empty()) continue;
    names.insert(names.begin(), span.name);
    ticks[std::move(names)] += own[s];
  }
  std::vector<FoldedStack> folded;
  for (const auto& [names, time] : ticks) {
    const double microseconds = std::min(spans.recording.Seconds(time) * 1e6, 1e15);
    if (microseconds < 1) continue;
    FoldedStack& stack = folded.emplace_back();
    stack.microseconds = std::llround(microseconds);
    for (const std::uint32_t name : std::views::reverse(names)) {
      if (!stack.frames.empty()) stack.frames += ';';
      stack.frames += Frame(spans.names[name]);
    }
  }
  std::ranges::sort(folded, {}, &FoldedStack::frames);
  return folded;
}

}  // namespace steelyard
