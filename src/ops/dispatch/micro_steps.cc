// SPDX-License-Identifier: Apache-2.0
//
// A micro-step that is like the one before it runs once and stands for all that follow. That it is
// like it is not taken for granted: its kernels are compared, and it may neither keep nor free what
// it did not make, so that a further run would begin where it began.

#include <algorithm>
#include <cstddef>
#include <ranges>

#include "ops/dispatch/dispatcher.h"
#include "steelyard/program.h"

namespace steelyard {
namespace {

// Whether two calls run the same kernel on tensors of the same layout.
bool AreAlike(const Program& program, const Node& a, const Node& b) {
  if (a.op != b.op || a.phase != b.phase || a.module != b.module) return false;
  return std::ranges::equal(
      program.results(a), program.results(b), [&](ValueId one, ValueId other) {
        if (one == kNoId || other == kNoId) return one == other;
        return program.values[one].dtype == program.values[other].dtype &&
               std::ranges::equal(program.sizes(one), program.sizes(other)) &&
               std::ranges::equal(program.strides(one), program.strides(other));
      });
}

// Whether the nodes from `first` on are like as many before them.
bool RepeatsWhatWasBefore(const Program& program, std::size_t first) {
  const std::vector<Node>& nodes = program.main().nodes;
  const std::size_t count = nodes.size() - first;
  if (first < count) return false;
  return std::ranges::all_of(std::views::iota(first, nodes.size()), [&](std::size_t i) {
    return AreAlike(program, nodes[i - count], nodes[i]);
  });
}

}  // namespace

void Dispatcher::FollowRepeat(NodeId next) {
  running_ = next;
  const Repeat& repeat = source_.repeat;
  if (repeat.times <= 1) return;
  if (next == repeat.first) BeginRepeat();
  if (next == repeat.first + repeat.count) EndRepeat();
}

void Dispatcher::BeginRepeat() {
  times_ = source_.repeat.times;
  before_repeat_ = {out_.values.size(), bytes_};
  out_.repeat = {static_cast<NodeId>(out_.main().nodes.size()), 0, times_};
}

void Dispatcher::EndRepeat() {
  const std::size_t first = out_.repeat.first;
  const auto begin = out_.main().nodes.begin() + static_cast<std::ptrdiff_t>(first);
  const bool frees = std::any_of(begin, out_.main().nodes.end(), [&](const Node& node) {
    return out_.is_drop(node) && out_.args(node)[0].value < before_repeat_.values;
  });
  const bool keeps =
      std::any_of(references_.begin() + static_cast<std::ptrdiff_t>(before_repeat_.values),
                  references_.end(), [](std::uint32_t references) { return references > 0; });
  if (frees || keeps || !RepeatsWhatWasBefore(out_, first)) {
    Contradict("the micro-steps do not come to be alike", "Weigh fewer of them.");
  }
  out_.repeat.count = static_cast<std::uint32_t>(out_.main().nodes.size() - first);
  CountBytes(Count(bytes_.value() - before_repeat_.bytes.value()) * (times_ - 1));
  times_ = 1;
}

}  // namespace steelyard
