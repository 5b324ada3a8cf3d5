// SPDX-License-Identifier: Apache-2.0
//
// Parameters are grouped by dtype and sizes, and a group is tied if just one of its names is used.
// Matrices come first, since whether a bias is tied depends on its module's. In the end names that
// the file itself has tied follow, so that all names of a tensor lead to the first of them.

#include "pass/tie_parameters.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

// "decoder" of "decoder.bias".
std::string_view ModuleOf(const Program& program, const NamedTensor& parameter) {
  const std::string_view name = program.text(parameter.name);
  return name.substr(0, name.rfind('.') == name.npos ? 0 : name.rfind('.'));
}

int RankOf(const Program& program, const NamedTensor& parameter) {
  return program.values[parameter.value].rank;
}

class Tying {
 public:
  explicit Tying(Program& program)
      : program_(program),
        parameters_(program.parameters),
        first_name_(parameters_.size(), kNoId),
        tied_(parameters_.size(), false) {
    for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].tied_to == kNoId) continue;
      tied_[i] = tied_[parameters_[i].tied_to] = true;
    }
  }

  // Matrices before vectors, which follow them.
  void Assume(const std::map<TypeKey, Alike>& types) {
    for (const bool matrices : {true, false}) {
      for (const auto& [type, alike] : types) {
        if (alike.used.size() != 1 || alike.unused.empty()) continue;
        if ((RankOf(program_, parameters_[alike.used[0]]) > 1) != matrices) continue;
        if (!matrices && BelongsToUntied(alike.used[0])) {
          NoteApart(alike);
        } else {
          Tie(alike);
        }
      }
    }
  }

  // A name that the file itself has tied to one of these follows it.
  void Follow() {
    for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
      std::uint32_t& tied_to = parameters_[i].tied_to;
      const std::uint32_t first = first_name_[tied_to == kNoId ? i : tied_to];
      if (first != kNoId && first != i) tied_to = first;
    }
  }

 private:
  // Whether the vector's module has matrices, and none of them has another name.
  bool BelongsToUntied(std::uint32_t vector) const {
    const std::string_view module = ModuleOf(program_, parameters_[vector]);
    bool has_matrix = false;
    for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
      if (RankOf(program_, parameters_[i]) < 2) continue;
      if (ModuleOf(program_, parameters_[i]) != module) continue;
      if (tied_[i]) return false;
      has_matrix = true;
    }
    return has_matrix;
  }

  // Makes the unused names further names of the used one, and notes which of them all comes first:
  // that is the one which the tensor goes by.
  void Tie(const Alike& alike) {
    const std::uint32_t used = alike.used[0];
    const ValueId value = parameters_[used].value;
    std::vector<std::uint32_t> names = alike.unused;
    names.insert(std::ranges::lower_bound(names, used), used);
    for (const std::uint32_t i : names) {
      program_.values[parameters_[i].value].storage = program_.values[value].storage;
      parameters_[i].value = value;
      first_name_[i] = names.front();
      tied_[i] = true;
      if (i != names.front()) Note("assumed tied: ", i, " = ", names.front());
    }
  }

  void NoteApart(const Alike& alike) {
    for (const std::uint32_t i : alike.unused) {
      Note("assumed not tied, though unused: ", i, " to ", alike.used[0]);
    }
  }

  void Note(std::string note, std::uint32_t name, std::string_view and_then, std::uint32_t other) {
    note.append(program_.text(parameters_[name].name)).append(and_then);
    note.append(program_.text(parameters_[other].name));
    program_.notes.push_back(program_.strings.Intern(note));
  }

  Program& program_;
  std::vector<NamedTensor>& parameters_;
  std::vector<std::uint32_t> first_name_;
  std::vector<bool> tied_;
};

}  // namespace

Result<Program> TieParameters(Program program) {
  if (program.ties_known) return program;
  const std::vector<bool> used = FindUsed(program);
  const std::vector<NamedTensor>& parameters = program.parameters;
  std::map<TypeKey, Alike> types;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const ValueId value = parameters[i].value;
    if (parameters[i].tied_to != kNoId || !program.values[value].has_layout) continue;
    Alike& alike = types[TypeOf(program, value)];
    (used[value] ? alike.used : alike.unused).push_back(i);
  }
  Tying tying(program);
  tying.Assume(types);
  tying.Follow();
  return program;
}

}  // namespace steelyard
