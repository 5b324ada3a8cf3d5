// SPDX-License-Identifier: Apache-2.0
//
// What a single call allocates, computes and moves, as short text to compare with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calls.h"
#include "ops/rules/work.h"
#include "runtime/eager.h"

namespace steelyard {

// An event as text: "+48 empty_strided", without "aten::"; a free by the caller is "-48 ".
inline std::string Line(std::int64_t bytes, std::string_view label) {
  return (bytes > 0 ? "+" : "") + std::to_string(bytes) + " " + std::string(label);
}

// Every allocation and free of the call, but those with which the caller lets go of the results.
inline std::vector<std::string> EventsOf(std::string_view call) {
  const Timeline timeline = RunEager(KernelsOf(call), Target{});
  std::vector<std::string> out;
  std::size_t count = timeline.events.size();
  while (count > 0 && timeline.events[count - 1].bytes < 0 &&
         timeline.labels.view(timeline.events[count - 1].label).empty()) {
    --count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view label = timeline.labels.view(timeline.events[i].label);
    out.push_back(
        Line(timeline.events[i].bytes, label.starts_with("aten::") ? label.substr(6) : label));
  }
  return out;
}

// The sum over the kernels of the call.
inline Work WorkOf(std::string_view call) {
  const Program kernels = KernelsOf(call);
  Work total;
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = FindOp(OpName::FromRuntime(kernels.op_name(node.op)));
    if (def == nullptr) continue;
    total = total + (**def->work)(OpView(kernels, *def, kernels.args(node), kernels.results(node)));
  }
  return total;
}
inline Traffic TrafficOf(std::string_view call) {
  const Program kernels = KernelsOf(call);
  Traffic total;
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = FindOp(OpName::FromRuntime(kernels.op_name(node.op)));
    if (def == nullptr) continue;
    const Traffic t =
        (**def->traffic)(OpView(kernels, *def, kernels.args(node), kernels.results(node)));
    total.read += t.read;
    total.written += t.written;
  }
  return total;
}

}  // namespace steelyard
