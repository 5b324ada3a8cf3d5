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

// The argument of a call that has this name, where the file gives it.
Argument* Given(Program& program, const Node& node, const OpDef& def, std::string_view name) {
  const std::optional<std::size_t> index = ArgumentNamed(program, node, def, name);
  return index ? &program.arguments[node.arguments.begin + *index] : nullptr;
}

// The argument of a call that says whether the model trains: PyTorch's schemas have two words for
// it, and a third of instances that are normalized.
Argument* ModeOf(Program& program, const Node& node, const OpDef& def) {
  for (const std::string_view name : {"train", "training"}) {
    if (Argument* const argument = Given(program, node, def, name)) return argument;
  }
  Argument* const instances = Given(program, node, def, "use_input_stats");
  if (instances == nullptr) return nullptr;
  // Without running statistics both modes take those of the input.
  const Argument* const running = Given(program, node, def, "running_mean");
  return running != nullptr && running->kind == ArgKind::kValue ? instances : nullptr;
}

// Sets a call to the mode, if it is in the other one; whether it was. Attention has a probability
// instead of a mode, and that of training is not in a file that was exported for evaluation.
bool Switch(Program& program, const Node& node, bool trains, bool sets) {
  const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
  if (def == nullptr) return false;
  Argument* const p = trains ? nullptr : Given(program, node, *def, "dropout_p");
  if (p != nullptr) {
    if (p->kind != ArgKind::kFloat || p->real == 0) return false;
    if (sets) p->real = 0;
    return true;
  }
  Argument* const mode = ModeOf(program, node, *def);
  if (mode == nullptr || mode->kind != ArgKind::kBool || !mode->dim.is_number()) return false;
  if ((mode->dim.number() != 0) == trains) return false;
  if (sets) mode->dim = Dim(trains ? 1 : 0);
  return true;
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
      if (Switch(program, node, trains, !as_exported)) ++others;
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
