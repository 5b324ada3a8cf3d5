// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/kernel_traffic.h"

#include <algorithm>

#include "ir/visit_values.h"

namespace steelyard::graph {
namespace {

Traffic OfRow(const CallGraph& graph, const Call& call, const Target& target) {
  if (call.def == nullptr || *call.def->traffic == nullptr) return {};
  const Program& p = *graph.program;
  const Node& node = p.main().nodes[call.node];
  return (**call.def->traffic)(OpView(p, *call.def, p.args(node), p.results(node), target));
}

bool IsInside(const Step& step, CallId maker) {
  return maker != kNoId && std::ranges::find(step.calls, maker) != step.calls.end();
}

Traffic OfKernel(const CallGraph& graph, const Step& step) {
  const Program& p = *graph.program;
  Traffic traffic;
  std::vector<ValueId> read;
  for (const CallId id : step.calls) {
    const Call& call = graph.calls[id];
    if (call.kind != CallKind::kKernel && call.kind != CallKind::kView) continue;
    for (const Argument& argument : p.args(p.main().nodes[call.node])) {
      VisitValues(p, argument, [&](ValueId value) {
        const bool tensor = p.values[value].kind == ValueKind::kTensor;
        const CallId maker = graph.maker_of_value[value];
        const bool held = maker != kNoId || p.values[value].role != Role::kActivation;
        if (!tensor || !held || IsInside(step, maker)) return;
        if (std::ranges::find(read, value) != read.end()) return;
        read.push_back(value);
        traffic.read += TensorView(p, value).bytes();
      });
    }
  }
  for (const ValueId value : graph.calls[step.last()].results) {
    if (value != kNoId) traffic.written += TensorView(p, value).bytes();
  }
  return traffic;
}

}  // namespace

std::vector<Traffic> TrafficOf(const CallGraph& graph, const Step& step, const Target& target) {
  std::vector<Traffic> out;
  for (const CallId id : step.calls) {
    const Call& call = graph.calls[id];
    const bool node = call.kind == CallKind::kKernel || call.kind == CallKind::kView;
    if (node) out.push_back(step.calls.size() == 1 ? OfRow(graph, call, target) : Traffic());
  }
  if (step.calls.size() > 1 && !out.empty()) out.back() = OfKernel(graph, step);
  return out;
}

}  // namespace steelyard::graph
