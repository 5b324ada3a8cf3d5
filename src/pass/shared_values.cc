// SPDX-License-Identifier: Apache-2.0
#include "pass/shared_values.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "pass/decompose.h"

namespace steelyard {

bool Fits(const Held& held, const ops::Placement& placement) {
  return held.is_part == placement.is_shard() && (!held.is_part || held.dim == placement.dim);
}

Status SharedValues::FindSizes(const Target& target) {
  std::vector<Argument> results;
  bool all_said = true;
  for (const Node& node : program_.main().nodes) {
    for (const ValueId id : program_.results(node)) {
      if (id == kNoId || program_.values[id].kind != ValueKind::kTensor) continue;
      results.push_back(Argument::OfValue(id));
      all_said = all_said && program_.values[id].has_layout;
    }
  }
  if (all_said) return {};
  Program whole = program_;
  whole.main().outputs = results;
  SY_ASSIGN_OR_RETURN(const Program kernels, Decompose(whole, target));
  const std::vector<Argument>& found = kernels.main().outputs;
  for (std::size_t i = 0; i < std::min(results.size(), found.size()); ++i) {
    if (found[i].kind != ArgKind::kValue || !kernels.values[found[i].value].has_layout) continue;
    sizes_.emplace(results[i].value, Dims(kernels.sizes(found[i].value)));
  }
  return {};
}

Held SharedValues::HeldOf(ValueId id) const {
  const auto found = held_.find(id);
  return found == held_.end() ? Held{} : found->second;
}

void SharedValues::Mark(const Node& node, const Held& held) {
  for (const ValueId id : program_.results(node)) {
    if (id == kNoId || program_.values[id].kind != ValueKind::kTensor) continue;
    held_[id] = held;
    if (std::exchange(program_.values[id].has_layout, false)) {
      sizes_.emplace(id, Dims(program_.sizes(id)));
    }
  }
}

const Dims* SharedValues::FindWhole(ValueId id) const {
  const auto found = sizes_.find(id);
  return found == sizes_.end() ? nullptr : &found->second;
}

Dims SharedValues::WholeOf(ValueId id) const {
  const Dims* known = FindWhole(id);
  return known == nullptr ? Dims(program_.sizes(id)) : *known;
}

void SharedValues::Replace(ValueId of, ValueId by) {
  replaced_.Set(of, by);
  by_[of] = by;
}

ValueId SharedValues::Now(ValueId id) const {
  const auto found = by_.find(id);
  return found == by_.end() ? id : found->second;
}

Argument SharedValues::Text(const ops::Placement& placement) {
  return Argument::OfString(program_.strings.Intern(ops::ShortName(placement)));
}

}  // namespace steelyard
