// SPDX-License-Identifier: Apache-2.0
#include "pass/set_mode.h"

#include <fmt/core.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/op_def.h"
#include "pass/arguments.h"

namespace steelyard {
namespace {

// The argument of a call that says whether the model trains, where the call is in the other mode.
Argument* OtherMode(Program& program, const Node& node, bool trains) {
  const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
  if (def == nullptr) return nullptr;
  std::optional<std::size_t> index;  // PyTorch's schemas have two words for it
  for (const std::string_view name : {"train", "training"}) {
    if (!index) index = ArgumentNamed(program, node, *def, name);
  }
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
