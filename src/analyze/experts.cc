// SPDX-License-Identifier: Apache-2.0

#include "analyze/experts.h"

#include <algorithm>

#include "steelyard/op.h"

namespace steelyard {
namespace {

// The selections of a program: (choices, chosen) of every router, a top-k over the last dimension.
struct Selection {
  std::int64_t choices, chosen;
};

bool IsSelection(const OpDef& def) {
  return *def.family == Family::kRouting && def.signature->returns() == 2;
}

std::vector<Selection> FindSelections(const Program& program,
                                      const std::vector<const OpDef*>& defs) {
  std::vector<Selection> out;
  for (const Node& node : program.main().nodes) {
    const OpDef* def = defs[node.op];
    if (def == nullptr || !IsSelection(*def)) continue;
    const Argument& input = program.args(node)[0];
    if (input.kind != ArgKind::kValue || program.results(node).empty()) continue;
    const auto before = program.sizes(input.value), after = program.sizes(program.results(node)[0]);
    if (before.empty() || before.size() != after.size() || after.back() >= before.back()) continue;
    out.push_back({before.back(), after.back()});
  }
  return out;
}

}  // namespace

ExpertUse FindExperts(const Program& kernels) {
  ExpertUse use;
  use.by_storage.resize(kernels.storage_count);
  std::vector<const OpDef*> defs;
  for (OpId op = 0; op < kernels.op_names.size(); ++op) {
    defs.push_back(FindOp(OpName::FromRuntime(kernels.op_name(op))));
  }
  const std::vector<Selection> selections = FindSelections(kernels, defs);
  if (selections.empty()) return use;
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = defs[node.op];
    if (def == nullptr || *def->family != Family::kRouting) continue;
    for (const Argument& argument : kernels.args(node)) {
      if (argument.kind != ArgKind::kValue) continue;
      const Value& value = kernels.values[argument.value];
      if (value.rank < 2) continue;
      const std::int64_t stack = kernels.sizes(argument.value)[0];
      const auto found = std::ranges::find(selections, stack, &Selection::choices);
      if (found == selections.end()) continue;
      use.by_storage[value.storage] = {stack, found->chosen};
      if (stack > use.experts) {
        use.experts = static_cast<int>(stack);
        use.active = static_cast<int>(found->chosen);
      }
    }
  }
  return use;
}

}  // namespace steelyard
