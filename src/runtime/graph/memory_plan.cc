// SPDX-License-Identifier: Apache-2.0
//
// A buffer lives from the step that makes it to the last one that uses it or a view of it. A result
// that overwrites has the buffer of what it overwrites, or none where that is resident. What a row
// allocates besides counts, at its most, while a step of one call runs; joined kernels have no
// workspace.

#include "runtime/graph/memory_plan.h"

#include <algorithm>

namespace steelyard::graph {
namespace {

// The most that a row allocates besides its results.
class Workspace final : public Allocations {
 public:
  void Output(int, std::string_view) override {}
  Scratch Allocate(std::int64_t bytes, std::string_view) override {
    blocks_.push_back(bytes);
    now_ += bytes;
    most_ = std::max(most_, now_);
    return static_cast<Scratch>(blocks_.size() - 1);
  }
  void Free(Scratch scratch, std::string_view) override { now_ -= blocks_[scratch]; }
  std::int64_t most() const { return most_; }

 private:
  std::vector<std::int64_t> blocks_;
  std::int64_t now_ = 0, most_ = 0;
};

class Planner {
 public:
  Planner(const CallGraph& graph, std::span<const Step> steps, const Target& target)
      : graph_(graph), steps_(steps), target_(target) {
    plan_.of_call.resize(graph.calls.size());
    plan_.used_by_step.resize(steps.size());
    plan_.workspace.assign(steps.size(), 0);
    kind_.assign(graph.calls.size(), CallKind::kKernel);
    for (const Step& step : steps) kind_[step.last()] = step.kind;
  }

  MemoryPlan Run() {
    for (step_ = 0; step_ < steps_.size(); ++step_) Visit(steps_[step_]);
    return std::move(plan_);
  }

 private:
  void Visit(const Step& step) {
    const Call& call = graph_.calls[step.last()];
    std::vector<std::uint32_t>& results = plan_.of_call[step.last()];
    switch (step.kind) {
      case CallKind::kKernel:
        for (const CallId operand : step.operands) UseAll(BuffersOf(operand));
        Make(step, call);
        UseAll(results);
        break;
      case CallKind::kView:
      case CallKind::kField:
        results = BuffersOf(step.last());
        UseAll(results);
        break;
      case CallKind::kResult:
        for (const CallId operand : step.operands) UseAll(BuffersOf(operand));
        for (const std::uint32_t buffer : plan_.used_by_step[step_]) {
          plan_.buffers[buffer].kept = true;
        }
        break;
    }
  }

  // A view or field is of what its kernel has made last: a step may be repeated.
  std::vector<std::uint32_t> BuffersOf(CallId id) const {
    const Call& call = graph_.calls[id];
    if (kind_[id] == CallKind::kKernel || call.uses.empty()) return plan_.of_call[id];
    std::vector<std::uint32_t> of = BuffersOf(call.uses[0].producer);
    if (call.kind == CallKind::kField) return {of[call.field]};
    return of;
  }

  void UseAll(const std::vector<std::uint32_t>& buffers) {
    std::vector<std::uint32_t>& used = plan_.used_by_step[step_];
    for (const std::uint32_t buffer : buffers) {
      if (buffer == kNoBuffer) continue;
      plan_.buffers[buffer].last = step_;
      if (std::ranges::find(used, buffer) == used.end()) used.push_back(buffer);
    }
  }

  void Make(const Step& step, const Call& call) {
    std::vector<std::uint32_t>& results = plan_.of_call[step.last()];
    results.clear();
    if (step.calls.size() == 1) MeasureWorkspace(call);
    if (call.overwrites) {
      if (!call.resident && !call.uses.empty()) results = BuffersOf(call.uses[0].producer);
      if (call.resident || !results.empty()) return;
    }
    for (const ValueId value : call.results) {
      results.push_back(kNoBuffer);
      if (value == kNoId) continue;
      results.back() = static_cast<std::uint32_t>(plan_.buffers.size());
      plan_.buffers.push_back(
          {.bytes = BytesOf(step, value), .value = value, .made = step_, .last = step_});
    }
  }

  // A view at the end of a kernel shows what is before it, if that is smaller.
  std::int64_t BytesOf(const Step& step, ValueId value) const {
    const Program& p = *graph_.program;
    std::int64_t bytes = TensorView(p, value).bytes();
    for (auto at = step.calls.rbegin(); at != step.calls.rend(); ++at) {
      const Call& call = graph_.calls[*at];
      if (call.kind != CallKind::kView || call.fusion != Fusion::kView) {
        if (at != step.calls.rbegin() && call.results.size() == 1) {
          bytes = std::min(bytes, TensorView(p, call.results[0]).bytes());
        }
        break;
      }
    }
    return bytes;
  }

  void MeasureWorkspace(const Call& call) {
    if (call.def == nullptr || !call.def->is_kernel()) return;
    const Program& p = *graph_.program;
    const Node& node = p.main().nodes[call.node];
    Workspace workspace;
    call.def->Allocate(OpView(p, *call.def, p.args(node), p.results(node), target_), workspace);
    plan_.workspace[step_] = workspace.most();
  }

  const CallGraph& graph_;
  std::span<const Step> steps_;
  const Target& target_;
  std::vector<CallKind> kind_;  // by call: of its step, where it ends one
  MemoryPlan plan_;
  std::uint32_t step_ = 0;
};

}  // namespace

MemoryPlan PlanMemory(const CallGraph& graph, std::span<const Step> steps, const Target& target) {
  return Planner(graph, steps, target).Run();
}

std::vector<std::int64_t> Growth(const MemoryPlan& plan, std::span<const Step> steps) {
  std::vector<std::int64_t> growth(steps.size(), 0);
  for (const Buffer& buffer : plan.buffers) {
    growth[buffer.made] += buffer.bytes;
    if (!buffer.kept) growth[buffer.last] -= buffer.bytes;
  }
  return growth;
}

Extent ExtentOf(const MemoryPlan& plan, std::span<const Step> steps) {
  std::vector<std::int64_t> made(steps.size(), 0), freed(steps.size(), 0);
  for (const Buffer& buffer : plan.buffers) {
    made[buffer.made] += buffer.bytes;
    if (!buffer.kept) freed[buffer.last] += buffer.bytes;
  }
  Extent extent;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    now += made[i];
    extent.peak = std::max(extent.peak, now + plan.workspace[i]);
    now -= freed[i];
    std::int64_t own = plan.workspace[i];
    for (const std::uint32_t buffer : plan.used_by_step[i]) own += plan.buffers[buffer].bytes;
    extent.bound = std::max(extent.bound, own);
  }
  return extent;
}

}  // namespace steelyard::graph
