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

}  // namespace

std::vector<FoldedStack> FoldStacks(const Spans& spans) {
  const Stacks stacks(spans);
  std::map<std::vector<std::uint32_t>, std::uint64_t> ticks;  // names, the innermost first
  for (std::uint32_t s = 0; s < spans.spans.size(); ++s) {
    const Span& span = spans.spans[s];
    if (span.kind == SpanKind::kFunction || span.kind == SpanKind::kModule) continue;
    std::vector<std::uint32_t> names = stacks.Of(s, std::numeric_limits<std::size_t>::max());
    if (names.empty()) continue;
    names.insert(names.begin(), span.name);
    const std::uint64_t whole = span.end - span.begin;
    ticks[std::move(names)] += whole - std::min(whole, span.inner);
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
