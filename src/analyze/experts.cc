// SPDX-License-Identifier: Apache-2.0

#include "analyze/experts.h"

#include <algorithm>

#include "ops/dispatch/program_rows.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

// The selections of a program: (choices, chosen) of every router, a top-k over the last dimension.
struct Selection {
  std::int64_t choices, chosen;
};

bool IsSelection(const OpDef& def) {
  return *def.family == Family::kSelection && def.signature->returns() == 2;
}

std::vector<Selection> FindSelections(const Program& program,
                                      const std::vector<const OpDef*>& defs) {
  std::vector<Selection> out;
  for (const Node& node : program.main().nodes) {
    const OpDef* def = defs[node.op];
    if (def == nullptr || node.refusal != kNoString || !IsSelection(*def)) continue;
    const Argument& input = program.args(node)[0];
    if (input.kind != ArgKind::kValue || program.results(node).empty()) continue;
    const auto before = program.sizes(input.value), after = program.sizes(program.results(node)[0]);
    if (before.empty() || before.size() != after.size() || after.back() >= before.back()) continue;
    out.push_back({before.back(), after.back()});
  }
  return out;
}

// Groups of a product that is routed: the length of its list of offsets, integers beside its
// factors. 0 for any other product.
std::int64_t GroupsOf(const Program& program, const Node& node) {
  for (const Argument& argument : program.args(node)) {
    if (argument.kind != ArgKind::kValue) continue;
    const Value& value = program.values[argument.value];
    if (IsIntegral(value.dtype) && value.rank == 1) return program.sizes(argument.value)[0];
  }
  return 0;
}

}  // namespace

ExpertUse FindExperts(const Program& kernels) {
  ExpertUse use;
  const std::vector<const OpDef*> defs = RowsOf(kernels);
  const std::vector<Selection> selections = FindSelections(kernels, defs);
  if (selections.empty()) return use;
  use.by_storage.resize(kernels.storage_count);
  for (const Node& node : kernels.main().nodes) {
    const OpDef* def = defs[node.op];
    if (def == nullptr || *def->family != Family::kContraction) continue;
    const std::int64_t groups = GroupsOf(kernels, node);
    const auto found = std::ranges::find(selections, groups, &Selection::choices);
    if (groups == 0 || found == selections.end()) continue;
    for (const Argument& argument : kernels.args(node)) {
      if (argument.kind != ArgKind::kValue) continue;
      const Value& value = kernels.values[argument.value];
      if (value.rank < 2 || kernels.sizes(argument.value)[0] != groups) continue;
      use.by_storage[value.storage] = {groups, found->chosen};
      use.experts = std::max(use.experts, static_cast<int>(groups));
      use.active = use.experts == groups ? static_cast<int>(found->chosen) : use.active;
    }
  }
  return use;
}

}  // namespace steelyard
