// SPDX-License-Identifier: Apache-2.0
#include "pass/module_span.h"

#include <algorithm>
#include <set>

#include "ir/visit_values.h"

namespace steelyard {
namespace {

using Values = std::vector<ValueId>;

void AddOnce(Values& values, ValueId id) {
  if (std::ranges::find(values, id) == values.end()) values.push_back(id);
}

template <class Visit>
void VisitOperands(const Program& program, const Node& node, const Visit& visit) {
  for (const Argument& argument : program.args(node)) VisitValues(program, argument, visit);
}

bool IsParameterOrBuffer(const Program& program, ValueId id) {
  return std::ranges::find(program.parameters, id, &NamedTensor::value) !=
             program.parameters.end() ||
         std::ranges::find(program.buffers, id, &NamedTensor::value) != program.buffers.end();
}

}  // namespace

bool IsInModule(const Program& program, ModuleId inner, ModuleId module) {
  while (inner != module && inner != 0 && inner != kNoId) inner = program.modules[inner].parent;
  return inner == module;
}

std::optional<ModuleSpan> SpanOf(const Program& program, ModuleId module) {
  const std::vector<Node>& nodes = program.main().nodes;
  const auto runs_in = [&](const Node& node) { return IsInModule(program, node.module, module); };
  const auto first = std::ranges::find_if(nodes, runs_in);
  if (first == nodes.end()) return std::nullopt;
  ModuleSpan span{.first = static_cast<std::size_t>(first - nodes.begin())};
  std::set<ValueId> made, taken_outside;
  std::size_t count = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!runs_in(nodes[i])) {
      VisitOperands(program, nodes[i], [&](ValueId id) { taken_outside.insert(id); });
      continue;
    }
    span.last = i;
    ++count;
    VisitOperands(program, nodes[i], [&](ValueId id) {
      const bool is_tensor = program.values[id].kind == ValueKind::kTensor;
      if (is_tensor && !made.contains(id) && !IsParameterOrBuffer(program, id)) {
        AddOnce(span.taken, id);
      }
    });
    for (const ValueId id : program.results(nodes[i])) made.insert(id);
  }
  if (count != span.last - span.first + 1) return std::nullopt;
  for (const Argument& output : program.main().outputs) {
    VisitValues(program, output, [&](ValueId id) { taken_outside.insert(id); });
  }
  for (const ValueId id : made) {
    if (id != kNoId && taken_outside.contains(id)) span.given.push_back(id);
  }
  return span;
}

}  // namespace steelyard
