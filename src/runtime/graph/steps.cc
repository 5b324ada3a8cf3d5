// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/steps.h"

#include <algorithm>
#include <utility>

namespace steelyard::graph {
namespace {

void AddOnce(std::vector<CallId>& list, CallId id) {
  if (std::ranges::find(list, id) == list.end()) list.push_back(id);
}

// Operands in the order in which the kernel's body, walked from its end, comes upon them.
Step StepOf(const CallGraph& graph, std::span<const CallId> kernel_of_call, CallId last) {
  struct At {
    CallId call;
    std::size_t next;
  };
  Step step;
  const bool alone = graph.calls[last].kind != CallKind::kKernel && kernel_of_call[last] == last;
  std::vector<CallId> seen{last};
  std::vector<At> stack{{last, 0}};
  while (!stack.empty()) {
    At& top = stack.back();
    const std::vector<Use>& uses = graph.calls[top.call].uses;
    if (top.next == uses.size()) {
      step.calls.push_back(top.call);
      stack.pop_back();
      continue;
    }
    const Use& use = uses[top.next++];
    if (kernel_of_call[use.producer] != last) {
      AddOnce(use.only_order ? step.before : step.operands, use.producer);
    } else if (std::ranges::find(seen, use.producer) == seen.end()) {
      seen.push_back(use.producer);
      stack.push_back({use.producer, 0});
    }
  }
  step.kind = alone && step.calls.size() == 1 ? graph.calls[last].kind : CallKind::kKernel;
  return step;
}

}  // namespace

std::vector<Step> StepsInPostOrder(const CallGraph& graph, std::span<const CallId> kernel_of_call) {
  struct Open {
    Step step;
    std::size_t next = 0;
  };
  std::vector<Step> out;
  std::vector<bool> seen(graph.calls.size(), false);
  std::vector<Open> stack;
  const auto open = [&](CallId call) {
    const CallId last = kernel_of_call[call];
    if (seen[last]) return;
    seen[last] = true;
    stack.push_back({StepOf(graph, kernel_of_call, last)});
  };
  open(graph.result());
  while (!stack.empty()) {
    Open& top = stack.back();
    const std::size_t next = top.next++;
    const std::size_t operands = top.step.operands.size();
    if (next < operands) {
      open(top.step.operands[next]);
    } else if (next < operands + top.step.before.size()) {
      open(top.step.before[next - operands]);
    } else {
      out.push_back(std::move(top.step));
      stack.pop_back();
    }
  }
  return out;
}

StepGraph DependenciesOf(const CallGraph& graph, std::span<const Step> steps) {
  StepGraph out;
  out.needs.resize(steps.size());
  out.users.resize(steps.size());
  std::vector<std::uint32_t> step_of(graph.calls.size(), kNoId);
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    for (const CallId call : steps[i].calls) step_of[call] = i;
  }
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const auto add = [&](CallId call) {
      const std::uint32_t need = step_of[call];
      if (std::ranges::find(out.needs[i], need) != out.needs[i].end()) return;
      out.needs[i].push_back(need);
      out.users[need].push_back(i);
    };
    for (const CallId call : steps[i].operands) add(call);
    for (const CallId call : steps[i].before) add(call);
  }
  return out;
}

}  // namespace steelyard::graph
