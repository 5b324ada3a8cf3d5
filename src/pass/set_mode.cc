// SPDX-License-Identifier: Apache-2.0
#include "pass/set_mode.h"

#include <fmt/core.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace steelyard {
namespace {

// The place of the argument that says whether the model trains; PyTorch's schemas have two words.
std::optional<std::size_t> PlaceOfMode(const OpDef& def) {
  for (const std::string_view name : {"train", "training"}) {
    const int place = def.signature->IndexOf(name);
    if (place >= 0) return static_cast<std::size_t>(place);
  }
  return std::nullopt;
}

// Where among the arguments of a call the one of this place stands, by position or by name.
std::optional<std::size_t> IndexOf(const Program& program, const Node& node, const OpDef& def,
                                   std::size_t place) {
  const std::string_view name = def.signature->params()[place].name;
  const std::span<const Argument> args = program.args(node);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view given = program.text(args[i].name);
    if (given.empty() ? i == place : given == name) return i;
  }
  return std::nullopt;
}

// The argument of a call that says whether the model trains, where the call is in the other mode.
Argument* OtherMode(Program& program, const Node& node, bool trains) {
  const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
  if (def == nullptr) return nullptr;
  const std::optional<std::size_t> place = PlaceOfMode(*def);
  if (!place) return nullptr;
  const std::optional<std::size_t> index = IndexOf(program, node, *def, *place);
  if (!index) return nullptr;
  Argument& argument = program.arguments[node.arguments.begin + *index];
  const bool is_mode = argument.kind == ArgKind::kBool && argument.dim.is_number();
  return is_mode && (argument.dim.number() != 0) != trains ? &argument : nullptr;
}

std::string_view Calls(std::size_t count) { return count == 1 ? "call" : "calls"; }

}  // namespace

Result<Program> SetMode(Program program, ModelMode mode, bool is_step) {
  const bool as_exported = mode == ModelMode::kExported;
  if (as_exported && !is_step) return program;
  const bool trains = mode != ModelMode::kEval;
  std::size_t others = 0;
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    for (const Node& node : program.graphs[g].nodes) {
      Argument* const argument = OtherMode(program, node, trains);
      if (argument == nullptr) continue;
      ++others;
      if (!as_exported) argument->dim = Dim(trains ? 1 : 0);
    }
  }
  if (others == 0) return program;
  program.notes.push_back(program.strings.Intern(
      as_exported ? fmt::format("the model was exported in evaluation mode: {} {} of dropout or "
                                "normalization would do otherwise in training; --mode train",
                                others, Calls(others))
                  : fmt::format("--mode {}: {} {} that the file has in the other mode",
                                trains ? "train" : "eval", others, Calls(others))));
  return program;
}

}  // namespace steelyard
