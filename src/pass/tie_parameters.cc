// SPDX-License-Identifier: Apache-2.0

#include "pass/tie_parameters.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

std::vector<bool> FindUsed(const Program& program) {
  std::vector<bool> used(program.values.size(), false);
  const auto mark = [&](const Argument& argument) {
    if (argument.kind == ArgKind::kValue) used[argument.value] = true;
  };
  // The pool holds the arguments of the nodes of all graphs, and the elements of lists.
  for (const Argument& argument : program.arguments) mark(argument);
  for (const Graph& graph : program.graphs) {
    for (const Argument& output : graph.outputs) mark(output);
  }
  return used;
}

// What must be equal for two names to be one tensor.
using TypeKey = std::pair<DType, std::vector<std::int64_t>>;

TypeKey TypeOf(const Program& program, ValueId id) {
  const std::span<const std::int64_t> sizes = program.sizes(id);
  return {program.values[id].dtype, {sizes.begin(), sizes.end()}};
}

// The parameters of one type, as indices into Program::parameters.
struct Alike {
  std::vector<std::uint32_t> used;
  std::vector<std::uint32_t> unused;
};

// Makes the unused names further names of `used`, which is the only one that is used, and notes in
// `first_name` which of them all comes first: that is the one which the tensor goes by.
void Tie(Program& program, std::uint32_t used, std::span<const std::uint32_t> unused,
         std::span<std::uint32_t> first_name) {
  std::vector<NamedTensor>& parameters = program.parameters;
  const ValueId value = parameters[used].value;
  std::vector<std::uint32_t> names(unused.begin(), unused.end());
  names.insert(std::ranges::lower_bound(names, used), used);
  for (const std::uint32_t i : names) {
    program.values[parameters[i].value].storage = program.values[value].storage;
    parameters[i].value = value;
    first_name[i] = names.front();
    if (i == names.front()) continue;
    std::string note = "assumed tied: ";
    note.append(program.text(parameters[i].name)).append(" = ");
    note.append(program.text(parameters[names.front()].name));
    program.notes.push_back(program.strings.Intern(note));
  }
}

}  // namespace

Result<Program> TieParameters(Program program) {
  if (program.ties_known) return program;
  const std::vector<bool> used = FindUsed(program);
  std::vector<NamedTensor>& parameters = program.parameters;
  std::map<TypeKey, Alike> types;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const ValueId value = parameters[i].value;
    if (parameters[i].tied_to != kNoId || !program.values[value].has_layout) continue;
    Alike& alike = types[TypeOf(program, value)];
    (used[value] ? alike.used : alike.unused).push_back(i);
  }
  std::vector<std::uint32_t> first_name(parameters.size(), kNoId);
  for (const auto& [type, alike] : types) {
    if (alike.used.size() != 1 || alike.unused.empty()) continue;
    Tie(program, alike.used[0], alike.unused, first_name);
  }
  // A name that the file itself has tied to one of these follows it.
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    std::uint32_t& tied_to = parameters[i].tied_to;
    const std::uint32_t first = first_name[tied_to == kNoId ? i : tied_to];
    if (first != kNoId && first != i) tied_to = first;
  }
  return program;
}

}  // namespace steelyard
