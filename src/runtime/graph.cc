// SPDX-License-Identifier: Apache-2.0
//
// Decides when buffers come and go: RAF allocates right before a kernel, counts the kernel's
// workspace only while it runs, and frees before the next binding what no later one reads.

#include "runtime/graph.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/graph/call_graph.h"
#include "runtime/graph/fuse.h"
#include "runtime/graph/kernel_traffic.h"
#include "runtime/graph/memory_plan.h"
#include "runtime/graph/memory_schedule.h"
#include "runtime/graph/recompute.h"
#include "runtime/graph/steps.h"
#include "runtime/residents.h"

namespace steelyard {
namespace {

using graph::Call;
using graph::CallGraph;
using graph::CallKind;
using graph::MemoryPlan;
using graph::Step;

// Of a kernel: the operator's name, its tuples of operands and of results, the call, the alias.
constexpr int kBindingsOfKernel = 5;
// Of a buffer: its storage and its tensor.
constexpr int kBindingsOfBuffer = 2;
constexpr int kProgressSteps = 10;

// A sum of megabytes in the 32 bits that RAF keeps it in.
class Megabytes {
 public:
  void Add(std::int64_t bytes) { sum_ += OfBytes(bytes); }
  void Subtract(std::int64_t bytes) { sum_ -= OfBytes(bytes); }
  float With(std::int64_t bytes) const { return sum_ + OfBytes(bytes); }
  float sum() const { return sum_; }

 private:
  static float OfBytes(std::int64_t bytes) { return static_cast<float>(bytes) / kMegabyte; }
  static constexpr float kMegabyte = 1 << 20;
  float sum_ = 0;
};

class GraphRunner {
 public:
  GraphRunner(const CallGraph& graph, std::vector<Step> steps, const MemoryPlan& plan,
              const Target& target, const GraphOptions& options)
      : graph_(graph),
        target_(target),
        program_(*graph.program),
        steps_(std::move(steps)),
        plan_(plan),
        options_(options) {}

  GraphRun Run() {
    AddResidents();
    run_.bindings = CountBindings();
    run_.program = program_;
    run_.program.main().nodes.clear();
    run_.bound = now_ + ExtentOf(plan_, steps_).bound;
    std::size_t made = 0;
    for (step_ = 0; step_ < steps_.size(); ++step_) {
      const Step& step = steps_[step_];
      const auto first = static_cast<NodeId>(run_.program.main().nodes.size());
      AddNodes(step);
      const auto last = static_cast<NodeId>(run_.program.main().nodes.size());
      const StringId label = LabelOf(step);
      Pass(step.kind == CallKind::kKernel ? kBindingsOfKernel : 1);
      for (; made < plan_.buffers.size() && plan_.buffers[made].made == step_; ++made) {
        Open(static_cast<std::uint32_t>(made), {label, first});
        Pass(kBindingsOfBuffer);
      }
      if (step.kind == CallKind::kKernel) AddKernel(step, {label, last == 0 ? 0 : last - 1});
      Release({label, last == 0 ? 0 : last - 1});
    }
    run_.kernels.push_back(
        {"out", run_.kernels.empty() ? 0 : run_.kernels.back().node, now_, megabytes_.sum()});
    Categorize();
    return std::move(run_);
  }

 private:
  struct Place {
    StringId label;
    NodeId node;
  };

  // RAF sums parameters up in the order in which the program takes them.
  void AddResidents() {
    VisitResidents(program_, [&](ValueId, Category category, std::int64_t bytes) {
      Of(run_.timeline.resident, category) += bytes;
      now_ += bytes;
    });
    std::vector<bool> seen(program_.storage_count, false);
    for (const ValueId id : program_.main().inputs) {
      if (seen[program_.values[id].storage]) continue;
      seen[program_.values[id].storage] = true;
      megabytes_.Add(TensorView(program_, id).storage_bytes());
    }
  }

  int CountBindings() const {
    int bindings = 0;
    for (const Step& step : steps_) {
      if (step.kind == CallKind::kResult && step.operands.size() == 1) continue;
      bindings += step.kind == CallKind::kKernel ? kBindingsOfKernel : 1;
    }
    for (const graph::Buffer& buffer : plan_.buffers) {
      bindings += kBindingsOfBuffer + (buffer.kept ? 0 : 1);
    }
    return bindings;
  }

  void Pass(int bindings) {
    if (!options_.progress || run_.bindings < kProgressSteps) return;
    const int every = run_.bindings / kProgressSteps;
    for (int i = 0; i < bindings; ++i, ++passed_) {
      if (passed_ % every == 0 && passed_ < run_.bindings) {
        options_.progress(passed_, run_.bindings);
      }
    }
  }

  // A field has no node of its own, a view of several results one for all of them.
  void AddNodes(const Step& step) {
    for (const graph::CallId id : step.calls) {
      const Call& call = graph_.calls[id];
      const bool again = call.kind == CallKind::kField || call.kind == CallKind::kResult ||
                         (call.kind == CallKind::kView && !FirstOfNode(call.node));
      if (!again) run_.program.main().nodes.push_back(program_.main().nodes[call.node]);
    }
    const std::vector<Traffic> traffic = TrafficOf(graph_, step, target_);
    run_.traffic.resize(run_.program.main().nodes.size());
    const std::size_t moved = std::min(traffic.size(), run_.traffic.size());
    std::copy(traffic.end() - static_cast<std::ptrdiff_t>(moved), traffic.end(),
              run_.traffic.end() - static_cast<std::ptrdiff_t>(moved));
  }
  bool FirstOfNode(NodeId node) {
    added_.resize(program_.main().nodes.size(), false);
    const bool first = !added_[node];
    added_[node] = true;
    return first;
  }

  void AddKernel(const Step& step, const Place& place) {
    const std::int64_t workspace = plan_.workspace[step_];
    if (workspace > 0) {
      const std::uint32_t block = OpenBlock(workspace, Block::kNoValue, place);
      CloseBlock(block, place);
    }
    run_.kernels.push_back(
        {NameOf(step), place.node, now_ + workspace, megabytes_.With(workspace)});
  }

  void Open(std::uint32_t buffer, const Place& place) {
    const graph::Buffer& b = plan_.buffers[buffer];
    block_of_buffer_.push_back(OpenBlock(b.bytes, b.value, place));
    live_.push_back(buffer);
    now_ += b.bytes;
    megabytes_.Add(b.bytes);
  }

  void Release(const Place& place) {
    std::erase_if(live_, [&](std::uint32_t buffer) {
      const graph::Buffer& b = plan_.buffers[buffer];
      if (b.last > step_ || b.kept) return false;
      CloseBlock(block_of_buffer_[buffer], place);
      now_ -= b.bytes;
      megabytes_.Subtract(b.bytes);
      Pass(1);
      return true;
    });
  }

  std::uint32_t OpenBlock(std::int64_t bytes, std::uint32_t value, const Place& place) {
    Timeline& t = run_.timeline;
    const auto block = static_cast<std::uint32_t>(t.blocks.size());
    t.blocks.push_back({bytes, value, static_cast<std::uint32_t>(t.events.size())});
    if (bytes > 0) t.events.push_back({bytes, block, place.label, place.node});
    return block;
  }
  void CloseBlock(std::uint32_t block, const Place& place) {
    Timeline& t = run_.timeline;
    t.blocks[block].freed = static_cast<std::uint32_t>(t.events.size());
    const std::int64_t bytes = t.blocks[block].bytes;
    if (bytes > 0) t.events.push_back({-bytes, block, place.label, place.node});
  }

  // "add" of "aten::add_.Tensor": what overwrites its operand there gives a new tensor here.
  std::string_view ShortName(graph::CallId id) const {
    std::string_view name = LabelOfOperator(FullName(id));
    name.remove_prefix(name.find("::") == std::string_view::npos ? 0 : name.find("::") + 2);
    if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
    return name;
  }
  std::string_view FullName(graph::CallId id) const {
    return program_.op_name(program_.main().nodes[graph_.calls[id].node].op);
  }

  // What a product's epilogue does is part of its name.
  std::string NameOf(const Step& step) const {
    if (step.calls.size() == 1) return std::string(ShortName(step.last()));
    std::string name;
    bool product = false;
    for (const graph::CallId id : step.calls) {
      const Call& call = graph_.calls[id];
      product |= call.fusion == Fusion::kOutFusable;
      if (call.kind == CallKind::kField || call.fusion == Fusion::kView) continue;
      name.append(name.empty() ? "" : "_").append(ShortName(id));
    }
    return product ? name : "fused_" + name;
  }
  StringId LabelOf(const Step& step) {
    if (step.kind != CallKind::kKernel) return kNoString;
    return run_.timeline.labels.Intern(step.calls.size() == 1
                                           ? std::string(LabelOfOperator(FullName(step.last())))
                                           : NameOf(step));
  }

  void Categorize() {
    VisitClaims(program_, [&](ValueId value, Category category) {
      const graph::CallId maker = graph_.maker_of_value[value];
      if (maker == kNoId) return;
      for (const std::uint32_t buffer : plan_.of_call[maker]) {
        if (buffer == graph::kNoBuffer) continue;
        const bool own =
            plan_.buffers[buffer].value == value || graph_.calls[maker].kind != CallKind::kKernel;
        if (own) run_.timeline.blocks[block_of_buffer_[buffer]].category = category;
      }
    });
  }

  const CallGraph& graph_;
  const Target& target_;
  const Program& program_;
  std::vector<Step> steps_;
  const MemoryPlan& plan_;
  const GraphOptions& options_;
  GraphRun run_;
  Megabytes megabytes_;
  std::vector<std::uint32_t> block_of_buffer_, live_;
  std::vector<bool> added_;
  std::int64_t now_ = 0;
  std::uint32_t step_ = 0;
  int passed_ = 0;
};

}  // namespace

GraphRun RunGraph(const Program& kernels, const Target& target, const GraphOptions& options) {
  const CallGraph calls = graph::BuildCallGraph(kernels, target);
  std::vector<Step> steps = graph::StepsInPostOrder(
      calls, options.fuse ? graph::FuseCalls(calls) : graph::FuseNothing(calls));
  if (options.order == KernelOrder::kMemory) {
    steps = graph::ScheduleForMemory(calls, std::move(steps), target);
  }
  MemoryPlan plan = graph::PlanMemory(calls, steps, target);
  int repeated = 0;
  bool fits = true;
  if (options.budget) {
    std::int64_t resident = 0;
    VisitResidents(kernels, [&](ValueId, Category, std::int64_t bytes) { resident += bytes; });
    const std::int64_t budget = *options.budget - resident;
    auto within = graph::FitByRecomputing(calls, steps, budget, target);
    MemoryPlan other = within ? graph::PlanMemory(calls, *within, target) : MemoryPlan();
    // A tensor that was written over and is computed again may live longer than was foreseen.
    fits = within && graph::ExtentOf(other, *within).peak <= budget;
    if (fits) {
      repeated = static_cast<int>(within->size() - steps.size());
      steps = *std::move(within);
      plan = std::move(other);
    }
  }
  GraphRun run = GraphRunner(calls, std::move(steps), plan, target, options).Run();
  run.repeated = repeated;
  run.fits = fits;
  return run;
}

}  // namespace steelyard
