// SPDX-License-Identifier: Apache-2.0
#include "ir/whole_calls.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>

#include "ir/visit_values.h"

namespace steelyard {

namespace {

constexpr std::size_t kNone = SIZE_MAX;

// By value: in which call it is made and not returned by.
std::vector<std::size_t> MakersOf(const Program& kernels) {
  std::vector<std::size_t> makers(kernels.values.size(), kNone);
  const auto set = [&](std::span<const ValueId> ids, std::size_t maker) {
    for (const ValueId id : ids) {
      if (id != kNoId) makers[id] = maker;
    }
  };
  for (std::size_t c = 0; c < kernels.whole_calls.size(); ++c) {
    const WholeCall& whole = kernels.whole_calls[c];
    for (NodeId i = whole.first; i - whole.first < whole.count; ++i) {
      set(kernels.results(kernels.main().nodes[i]), c);
    }
    set({kernels.outputs.data() + whole.outputs.begin, whole.outputs.count}, kNone);
  }
  return makers;
}

}  // namespace

void KeepClosedCalls(Program& kernels) {
  const std::vector<WholeCall>& calls = kernels.whole_calls;
  if (calls.empty()) return;
  const std::vector<std::size_t> makers = MakersOf(kernels);
  std::vector<bool> open(calls.size());
  const auto use = [&](const Argument& argument, const WholeCall* by) {
    VisitValues(kernels, argument, [&](ValueId id) {
      if (makers[id] != kNone && by != &calls[makers[id]]) open[makers[id]] = true;
    });
  };
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    if (kernels.is_drop(nodes[i])) continue;
    for (const Argument& argument : kernels.args(nodes[i])) use(argument, kernels.whole_call(i));
  }
  for (const Argument& output : kernels.main().outputs) use(output, nullptr);
  std::vector<WholeCall> closed;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    if (!open[c]) closed.push_back(calls[c]);
  }
  kernels.whole_calls = std::move(closed);
}

std::vector<bool> InWholeCalls(const Program& kernels) {
  std::vector<bool> inside(kernels.main().nodes.size());
  for (const WholeCall& whole : kernels.whole_calls) {
    std::unordered_set<ValueId> made;
    for (NodeId i = whole.first; i - whole.first < whole.count; ++i) {
      const Node& node = kernels.main().nodes[i];
      const std::span<const ValueId> results = kernels.results(node);
      made.insert(results.begin(), results.end());
      inside[i] = !kernels.is_drop(node) || made.contains(kernels.args(node)[0].value);
    }
  }
  return inside;
}

void FoldWholeCalls(Program& kernels) {
  const std::vector<bool> inside = InWholeCalls(kernels);
  std::vector<Node> nodes;
  for (NodeId i = 0; i < inside.size(); ++i) {
    Node node = kernels.main().nodes[i];
    const WholeCall* whole = kernels.whole_call(i);
    if (whole != nullptr && whole->first == i) {
      node.op = whole->op;
      node.arguments = whole->arguments;
      node.outputs = whole->outputs;
    } else if (inside[i]) {
      continue;
    }
    nodes.push_back(node);
  }
  kernels.main().nodes = std::move(nodes);
  kernels.whole_calls.clear();
}

}  // namespace steelyard
