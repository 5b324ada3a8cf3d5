// SPDX-License-Identifier: Apache-2.0
//
// What is there before a step and after it, and the names of its operators, for every runtime.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/whole_bytes.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// Calls `visit(value, category, bytes)` for each storage once that is resident, in the host's
// memory or where the program runs.
template <class Visit>
void VisitResidentsAnywhere(const Program& program, const Visit& visit) {
  std::vector<bool> seen(program.storage_count, false);
  const std::vector<std::int64_t> whole = WholeBytes(program);
  const auto add = [&](const NamedTensor& tensor, Category category) {
    const ValueId id = tensor.value;
    if (id == kNoId || seen[program.values[id].storage]) return;
    seen[program.values[id].storage] = true;
    const std::int64_t of_whole = whole[program.values[id].storage];
    visit(id, category, of_whole > 0 ? of_whole : program.stored_bytes(tensor));
  };
  for (const NamedTensor& p : program.parameters) add(p, Category::kParameters);
  for (const NamedTensor& b : program.buffers) add(b, Category::kBuffers);
  for (ValueId id : program.main().inputs) {
    const Role role = program.values[id].role;
    add({.value = id}, role == Role::kParameter        ? Category::kParameters
                       : role == Role::kOptimizerState ? Category::kOptimizerState
                       : role == Role::kGradient       ? Category::kGradients
                       : role == Role::kCache          ? Category::kCache
                                                       : Category::kInputs);
  }
}

// ... where the program runs.
template <class Visit>
void VisitResidents(const Program& program, const Visit& visit) {
  VisitResidentsAnywhere(program, [&](ValueId id, Category category, std::int64_t bytes) {
    if (!program.values[id].on_host) visit(id, category, bytes);
  });
}

// Calls `claim(value, category)` for what values are to the caller and to autograd; of several
// claims to one stretch of memory the last one counts.
template <class Claim>
void VisitClaims(const Program& program, const Claim& claim) {
  for (const SavedTensor& saved : program.saved) claim(saved.value, Category::kActivations);
  for (const Argument& output : program.main().outputs) {
    if (output.kind == ArgKind::kValue) claim(output.value, Category::kOutputs);
  }
  for (ValueId id = 0; id < program.values.size(); ++id) {
    const Role role = program.values[id].role;
    if (role == Role::kParameter) claim(id, Category::kParameters);
    if (role == Role::kGradient) claim(id, Category::kGradients);
    if (role == Role::kOptimizerState) claim(id, Category::kOptimizerState);
    if (role == Role::kCache) claim(id, Category::kCache);
  }
}

// Without the overload. Records of the profiler that are no operators have a point, but no
// namespace before it, or a space.
inline std::string_view LabelOfOperator(std::string_view name) {
  if (name.find(' ') != std::string_view::npos) return name;
  const std::size_t point = name.find('.');
  return name.substr(0, point).find("::") == std::string_view::npos ? name : name.substr(0, point);
}

}  // namespace steelyard
