// SPDX-License-Identifier: Apache-2.0
//
// Rounds of two moves: what frees a mebibyte more than it takes goes to where all that it needs has
// run, then what takes as much more goes to right before its first use; views go along. A round
// that does not lower the peak is given up and is the last, so that the order never gets worse.

#include "runtime/graph/memory_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace steelyard::graph {
namespace {

using Order = std::vector<std::uint32_t>;  // steps by their new places

constexpr std::int64_t kWorthMoving = std::int64_t{1} << 20;
constexpr int kMostRounds = 5;

bool IsFree(const Step& step) {
  return step.kind == CallKind::kView || step.kind == CallKind::kField;
}

// What shrinks memory runs as soon as all it needs has run.
class Hoist {
 public:
  Hoist(std::span<const Step> steps, const StepGraph& graph,
        const std::vector<std::int64_t>& growth)
      : steps_(steps), graph_(graph), growth_(growth), done_(steps.size(), false) {
    for (const auto& needs : graph.needs) missing_.push_back(needs.size());
  }
  Order Run() {
    for (std::uint32_t i = 0; i < steps_.size(); ++i) Emit(i);
    return std::move(order_);
  }

 private:
  void Emit(std::uint32_t first) {
    Order stack{first};
    while (!stack.empty()) {
      const std::uint32_t i = stack.back();
      stack.pop_back();
      if (done_[i]) continue;
      done_[i] = true;
      order_.push_back(i);
      Order ready;
      for (const std::uint32_t user : graph_.users[i]) {
        if (--missing_[user] > 0) continue;
        if (growth_[user] < -kWorthMoving || IsFree(steps_[user])) ready.push_back(user);
      }
      std::ranges::sort(ready, std::greater());
      stack.insert(stack.end(), ready.begin(), ready.end());
    }
  }

  std::span<const Step> steps_;
  const StepGraph& graph_;
  const std::vector<std::int64_t>& growth_;
  std::vector<bool> done_;
  std::vector<std::size_t> missing_;
  Order order_;
};

// What makes memory grow runs right before the first step that uses it.
Order Sink(std::span<const Step> steps, const StepGraph& graph,
           const std::vector<std::int64_t>& growth) {
  struct Place {
    std::uint32_t before;  // this step, or
    bool own;              // it is that one
  };
  std::vector<Place> places(steps.size());
  for (auto i = static_cast<std::uint32_t>(steps.size()); i-- > 0;) {
    places[i] = {i, true};
    if (graph.users[i].empty() || (growth[i] <= kWorthMoving && !IsFree(steps[i]))) continue;
    std::uint32_t first = kNoId;
    for (const std::uint32_t user : graph.users[i]) {
      first = std::min(first, IsFree(steps[user]) ? places[user].before : user);
    }
    places[i] = {first, false};
  }
  Order order(steps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t i) { return std::pair(places[i].before, places[i].own); });
  return order;
}

void Rearrange(std::vector<Step>& steps, const Order& order) {
  std::vector<Step> out;
  for (const std::uint32_t i : order) out.push_back(std::move(steps[i]));
  steps = std::move(out);
}

}  // namespace

std::vector<Step> ScheduleForMemory(const CallGraph& graph, std::vector<Step> steps,
                                    const Target& target) {
  std::int64_t best = ExtentOf(PlanMemory(graph, steps, target), steps).peak;
  std::vector<Step> tried = steps;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<std::int64_t> shrinking = Growth(PlanMemory(graph, tried, target), tried);
    Rearrange(tried, Hoist(tried, DependenciesOf(graph, tried), shrinking).Run());
    const std::vector<std::int64_t> growing = Growth(PlanMemory(graph, tried, target), tried);
    Rearrange(tried, Sink(tried, DependenciesOf(graph, tried), growing));
    const std::int64_t peak = ExtentOf(PlanMemory(graph, tried, target), tried).peak;
    if (peak >= best) break;
    best = peak;
    steps = tried;
  }
  return steps;
}

}  // namespace steelyard::graph
