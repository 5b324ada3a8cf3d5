// SPDX-License-Identifier: Apache-2.0
//
// Decides what is let go: of what may be computed again, what costs least per byte and per use to
// come (RAF's rematerialization.cc, with billions of operations as the cost).

#include "runtime/graph/recompute.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace steelyard::graph {
namespace {

// Of a chain of tensors that were let go, each of which is computed from the one before.
constexpr int kMostDepth = 10;
// Smaller tensors stay: RAF's limit, or a small part of a small budget.
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
constexpr std::int64_t kLeastShare = 1024;
constexpr std::uint32_t kNever = 0xffffffffu;
constexpr int kNotAsked = -1;
constexpr double kUnknownCost = -1;

class Recomputing {
 public:
  Recomputing(const CallGraph& graph, const std::vector<Step>& steps, std::int64_t budget,
              const Target& target)
      : graph_(graph),
        steps_(steps),
        budget_(budget),
        least_bytes_(std::min(kLeastBytes, budget / kLeastShare)),
        target_(target),
        plan_(PlanMemory(graph, steps, target)) {
    uses_.resize(plan_.buffers.size());
    live_.assign(plan_.buffers.size(), false);
    made_.resize(steps.size());
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      for (const std::uint32_t buffer : plan_.used_by_step[i]) {
        (plan_.buffers[buffer].made == i ? made_[i] : uses_[buffer])
            .push_back(plan_.buffers[buffer].made == i ? buffer : i);
      }
    }
    FindOverwritten();
  }

  std::optional<std::vector<Step>> Run() {
    for (now_ = 0; now_ < steps_.size(); ++now_) {
      protected_ = plan_.used_by_step[now_];
      for (const std::uint32_t buffer : plan_.used_by_step[now_]) {
        if (plan_.buffers[buffer].made != now_ && !Bring(buffer)) return std::nullopt;
      }
      if (!Take(now_)) return std::nullopt;
      for (const std::uint32_t buffer : plan_.used_by_step[now_]) Drop(buffer, now_ + 1);
    }
    return std::move(out_);
  }

 private:
  // What reads a parameter cannot run again once that is overwritten.
  void FindOverwritten() {
    std::vector<std::uint32_t> step_of(graph_.calls.size(), kNever);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      for (const CallId call : steps_[i].calls) step_of[call] = i;
    }
    until_.assign(steps_.size(), kNever);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      for (const CallId call : steps_[i].before) {
        until_[step_of[call]] = std::min(until_[step_of[call]], i);
      }
      // What is written over is another tensor afterwards.
      for (const CallId call : steps_[i].calls) {
        if (!graph_.calls[call].overwrites) continue;
        for (const std::uint32_t buffer : plan_.of_call[call]) {
          if (buffer >= plan_.buffers.size()) continue;
          const std::uint32_t maker = plan_.buffers[buffer].made;
          if (maker != i) until_[maker] = std::min(until_[maker], i);
        }
      }
    }
  }

  std::uint32_t NextUse(std::uint32_t buffer, std::uint32_t from) const {
    const auto next = std::ranges::lower_bound(uses_[buffer], from);
    return next == uses_[buffer].end() ? kNever : *next;
  }

  // Lets go of what no later step reads.
  void Drop(std::uint32_t buffer, std::uint32_t from) {
    if (!live_[buffer] || plan_.buffers[buffer].kept || NextUse(buffer, from) != kNever) return;
    live_[buffer] = false;
    held_ -= plan_.buffers[buffer].bytes;
  }

  // Runs a step, when there is room for what it makes.
  bool Take(std::uint32_t step) {
    std::int64_t bytes = plan_.workspace[step];
    for (const std::uint32_t buffer : made_[step]) bytes += plan_.buffers[buffer].bytes;
    while (held_ + bytes > budget_) {
      const std::uint32_t victim = Cheapest();
      if (victim == kNever) return false;
      held_ -= BytesOf(victim);
      for (const std::uint32_t buffer : Together(victim)) live_[buffer] = false;
    }
    for (const std::uint32_t buffer : made_[step]) live_[buffer] = true;
    held_ += bytes - plan_.workspace[step];
    out_.push_back(steps_[step]);
    return true;
  }

  // Makes a tensor that was let go present again.
  bool Bring(std::uint32_t buffer) {
    if (live_[buffer]) return true;
    const std::uint32_t step = plan_.buffers[buffer].made;
    const std::size_t before = protected_.size();
    const std::vector<std::uint32_t>& operands = plan_.used_by_step[step];
    protected_.insert(protected_.end(), operands.begin(), operands.end());
    for (const std::uint32_t operand : operands) {
      if (plan_.buffers[operand].made != step && !Bring(operand)) return false;
    }
    if (!Take(step)) return false;
    protected_.resize(before);
    for (const std::uint32_t operand : operands) {
      if (std::ranges::find(protected_, operand) == protected_.end()) Drop(operand, now_);
    }
    return true;
  }

  // What one kernel gives at once goes at once.
  const std::vector<std::uint32_t>& Together(std::uint32_t buffer) const {
    return made_[plan_.buffers[buffer].made];
  }
  std::int64_t BytesOf(std::uint32_t buffer) const {
    std::int64_t bytes = 0;
    for (const std::uint32_t other : Together(buffer)) {
      if (live_[other]) bytes += plan_.buffers[other].bytes;
    }
    return bytes;
  }

  std::uint32_t Cheapest() {
    costs_.assign(live_.size(), kUnknownCost);
    std::uint32_t best = kNever;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t buffer = 0; buffer < plan_.buffers.size(); ++buffer) {
      if (!MayGo(buffer)) continue;
      const auto later = uses_[buffer].end() - std::ranges::lower_bound(uses_[buffer], now_);
      constexpr double kGibibyte = 1 << 30;
      const double size = static_cast<double>(BytesOf(buffer)) / kGibibyte;
      const double score = (CostOf(buffer) + 0.1) * static_cast<double>(later + 1) / size;
      if (score >= least || ChainWith(buffer) > kMostDepth) continue;
      least = score;
      best = buffer;
    }
    return best;
  }

  // How long the longest chain of tensors to compute again would be with this one in it. Chains
  // meet again, so what was found of a tensor is kept until the next question.
  int ChainWith(std::uint32_t buffer) {
    before_.assign(live_.size(), kNotAsked);
    behind_.assign(live_.size(), kNotAsked);
    int behind = 0;
    for (const std::uint32_t other : Together(buffer))
      behind = std::max(behind, ChainBehind(other));
    return ChainBefore(buffer) + behind;
  }
  // The tensor and what it is made of.
  int ChainBefore(std::uint32_t buffer) {
    if (before_[buffer] != kNotAsked) return before_[buffer];
    const std::uint32_t step = plan_.buffers[buffer].made;
    int longest = 0;
    for (const std::uint32_t operand : plan_.used_by_step[step]) {
      const bool own = plan_.buffers[operand].made == step;
      if (!own && !live_[operand]) longest = std::max(longest, ChainBefore(operand));
    }
    return before_[buffer] = longest + 1;
  }
  // What was made of it, and is needed again.
  int ChainBehind(std::uint32_t buffer) {
    if (behind_[buffer] != kNotAsked) return behind_[buffer];
    int longest = 0;
    for (const std::uint32_t step : uses_[buffer]) {
      if (step >= now_) break;
      for (const std::uint32_t made : made_[step]) {
        if (live_[made] || NextUse(made, now_) == kNever) continue;
        longest = std::max(longest, ChainBehind(made) + 1);
      }
    }
    return behind_[buffer] = longest;
  }

  bool MayGo(std::uint32_t buffer) const {
    const std::uint32_t step = plan_.buffers[buffer].made;
    if (!live_[buffer] || BytesOf(buffer) < least_bytes_ || !MayRepeat(steps_[step])) return false;
    return std::ranges::all_of(Together(buffer), [&](std::uint32_t b) {
      const bool needed_now = std::ranges::find(protected_, b) != protected_.end();
      const std::uint32_t next = NextUse(b, now_);
      const bool goes = live_[b] ? !needed_now && (next <= until_[step]) : next == kNever;
      return goes && !plan_.buffers[b].kept;
    });
  }

  bool MayRepeat(const Step& step) const {
    return std::ranges::all_of(step.calls, [&](CallId id) {
      const Call& call = graph_.calls[id];
      if (call.kind != CallKind::kKernel) return true;
      return call.def != nullptr && !call.overwrites && *call.def->family != Family::kRandom;
    });
  }

  // Billions of operations, those for operands that are not there included.
  double CostOf(std::uint32_t buffer) {
    if (costs_[buffer] != kUnknownCost) return costs_[buffer];
    const std::uint32_t step = plan_.buffers[buffer].made;
    double cost = 0;
    for (const CallId id : steps_[step].calls) {
      const Call& call = graph_.calls[id];
      if (call.kind != CallKind::kKernel || call.def == nullptr) continue;
      const Program& p = *graph_.program;
      const Node& node = p.main().nodes[call.node];
      const Work work =
          (**call.def->work)(OpView(p, *call.def, p.args(node), p.results(node), target_));
      cost += static_cast<double>((work.mac * 2 + work.alu).value()) / 1e9;
    }
    for (const std::uint32_t operand : plan_.used_by_step[step]) {
      const bool own = plan_.buffers[operand].made == step;
      if (!own && !live_[operand]) cost += CostOf(operand);
    }
    return costs_[buffer] = cost;
  }

  const CallGraph& graph_;
  const std::vector<Step>& steps_;
  const std::int64_t budget_;
  const std::int64_t least_bytes_;
  const Target& target_;
  MemoryPlan plan_;                               // of the steps as they are
  std::vector<std::vector<std::uint32_t>> uses_;  // by buffer: steps that read it
  std::vector<std::vector<std::uint32_t>> made_;  // by step: buffers
  std::vector<std::uint32_t> until_;              // by step: where it may be repeated before
  std::vector<bool> live_;                        // by buffer
  std::vector<int> before_, behind_;              // by buffer, of ChainWith
  std::vector<double> costs_;                     // by buffer, of Cheapest
  std::vector<std::uint32_t> protected_;          // buffers of what runs now
  std::vector<Step> out_;
  std::int64_t held_ = 0;
  std::uint32_t now_ = 0;
};

}  // namespace

std::optional<std::vector<Step>> FitByRecomputing(const CallGraph& graph,
                                                  const std::vector<Step>& steps,
                                                  std::int64_t budget, const Target& target) {
  return Recomputing(graph, steps, budget, target).Run();
}

}  // namespace steelyard::graph
