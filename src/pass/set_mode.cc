// SPDX-License-Identifier: Apache-2.0
//
// The mode is an argument of dropout, normalizations and recurrent layers, by whatever name;
// dropout that attention had no use for where it was exported is told, and not put in.

#include "pass/set_mode.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/facts.h"
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
  // A normalization without running statistics takes those of its input in both modes. Some have
  // an overload without them, which keeps their momentum.
  const auto takes = [&](std::string_view name) { return def.signature->IndexOf(name) >= 0; };
  if (takes("running_mean") || takes("momentum")) {
    const Argument* const running = Given(program, node, def, "running_mean");
    if (running == nullptr || running->kind != ArgKind::kValue) return nullptr;
  }
  for (const std::string_view name : {"train", "training", "use_input_stats"}) {
    if (Argument* const argument = Given(program, node, def, name)) return argument;
  }
  return nullptr;
}

// How a call stands to the mode that is asked for.
enum class Found : std::uint8_t { kNoMode, kInIt, kInTheOther, kDropsNothing };

// How attention does, which has a probability instead of a mode: that of training is not in a file
// that was exported for evaluation, which is to say that it drops nothing out.
Found AttentionTo(Argument* p, bool trains, bool sets) {
  if (p != nullptr && p->kind != ArgKind::kFloat) return Found::kNoMode;
  if (p == nullptr || p->real == 0) return trains ? Found::kDropsNothing : Found::kInIt;
  if (trains) return Found::kInIt;
  if (sets) p->real = 0;
  return Found::kInTheOther;
}

// A call without the argument is in the mode that its schema has by default, as rrelu is: only the
// other one is written down.
Found SwitchDefault(Program& program, Node& node, const OpDef& def, bool trains, bool sets) {
  constexpr std::string_view kTraining = "training";
  const int place = def.signature->IndexOf(kTraining);
  if (place < 0 || Given(program, node, def, kTraining) != nullptr) return Found::kNoMode;
  const Param param = def.signature->params()[static_cast<std::size_t>(place)];
  if (param.type != ParamType::kBool || param.default_text.empty()) return Found::kNoMode;
  if ((param.default_text == "True") == trains) return Found::kInIt;
  if (!sets) return Found::kInTheOther;
  const std::span<const Argument> given = program.args(node);
  std::vector<Argument> args(given.begin(), given.end());
  args.push_back(Argument::OfBool(trains));
  args.back().name = program.strings.Intern(kTraining);
  node.arguments = program.AddArguments(args);
  return Found::kInTheOther;
}

// Sets a call to the mode, if it is in the other one.
Found Switch(Program& program, Node& node, bool trains, bool sets) {
  const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
  if (def == nullptr) return Found::kNoMode;
  constexpr std::string_view kProbability = "dropout_p";
  if (def->signature->IndexOf(kProbability) >= 0) {
    return AttentionTo(Given(program, node, *def, kProbability), trains, sets);
  }
  Argument* const mode = ModeOf(program, node, *def);
  if (mode == nullptr) return SwitchDefault(program, node, *def, trains, sets);
  if (mode->kind != ArgKind::kBool || !mode->dim.is_number()) {
    return Found::kNoMode;
  }
  if ((mode->dim.number() != 0) == trains) return Found::kInIt;
  if (sets) mode->dim = Dim(trains ? 1 : 0);
  return Found::kInTheOther;
}

std::string_view Calls(std::size_t count) { return count == 1 ? "call" : "calls"; }

// Of a model that was not exported while it trains, or may not have been: what it may drop out of
// attention then.
std::string WhatExportLeftOut(std::size_t count) {
  return fmt::format(
      "{} {} of attention {} dropout_p 0, as an export in evaluation mode has it: dropout that the "
      "model has there in training is not in these figures; call model.train() before "
      "torch.export.export",
      count, Calls(count), count == 1 ? "has" : "have");
}

}  // namespace

Result<Program> SetMode(Program program, ModelMode mode, bool is_step) {
  const bool as_exported = mode == ModelMode::kExported;
  if (as_exported && !is_step) return program;
  const bool trains = mode != ModelMode::kEval;
  std::array<std::size_t, 4> calls = {};
  const auto count = [&](Found found) -> std::size_t& {
    return calls[static_cast<std::size_t>(found)];
  };
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    for (Node& node : program.graphs[g].nodes) {
      ++count(Switch(program, node, trains, !as_exported));
    }
  }
  const auto note = [&](const std::string& line) {
    program.notes.push_back(program.strings.Intern(line));
  };
  const std::size_t others = count(Found::kInTheOther);
  if (others > 0) {
    note(as_exported ? fmt::format("the model was exported in evaluation mode: {} {} of dropout or "
                                   "normalization would do otherwise in training; --mode train",
                                   others, Calls(others))
                     : fmt::format("--mode {}: {} {} that the file has in the other mode",
                                   trains ? "train" : "eval", others, Calls(others)));
  }
  const bool may_be_of_evaluation =
      !HasFact(program, kBuiltFrom) && (others > 0 || count(Found::kInIt) == 0);
  if (mode == ModelMode::kTrain && may_be_of_evaluation && count(Found::kDropsNothing) > 0) {
    note(WhatExportLeftOut(count(Found::kDropsNothing)));
  }
  return program;
}

}  // namespace steelyard
