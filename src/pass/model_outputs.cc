// SPDX-License-Identifier: Apache-2.0

#include "pass/model_outputs.h"

#include <algorithm>

namespace steelyard {

std::vector<Argument> ModelOutputs(const Program& program, std::span<const Node> forward) {
  std::vector<Argument> outputs;
  for (const Argument& output : program.main().outputs) {
    if (output.kind != ArgKind::kValue) continue;
    const bool made = std::ranges::any_of(forward, [&](const Node& node) {
      const std::span<const ValueId> results = program.results(node);
      return std::ranges::find(results, output.value) != results.end();
    });
    if (made && program.values[output.value].kind == ValueKind::kTensor) {
      outputs.push_back(Argument::OfValue(output.value));
    }
  }
  return outputs;
}

void Replacements::In(Argument& argument) {
  if (argument.kind == ArgKind::kList) argument.list = In(argument.list);
  if (argument.kind != ArgKind::kValue) return;
  const auto found = by_.find(argument.value);
  if (found != by_.end()) argument.value = found->second;
}

Argument::Run Replacements::In(Argument::Run run) {
  std::vector<Argument> arguments;
  arguments.reserve(run.count);
  for (std::uint32_t i = 0; i < run.count; ++i) {
    arguments.push_back(program_.arguments[run.begin + i]);
    In(arguments.back());
  }
  return program_.AddArguments(arguments);
}

void Replacements::InOutputs() {
  for (Argument& output : program_.main().outputs) In(output);
  const auto loss = by_.find(program_.loss);
  if (loss != by_.end()) program_.loss = loss->second;
}

}  // namespace steelyard
