// SPDX-License-Identifier: Apache-2.0

#include "pass/append_optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "pass/append_call.h"

namespace steelyard {
namespace {

constexpr std::array kOptimizers{
    OptimizerInfo{"sgd", "SGD", "steelyard::sgd", "torch.optim.SGD"},
    OptimizerInfo{"adamw", "AdamW", "steelyard::adamw", "torch.optim.AdamW"},
};

// Every tensor once, though it may have several names.
std::vector<Argument> TrainedParameters(const Program& program) {
  std::vector<Argument> out;
  std::vector<bool> seen(program.values.size(), false);
  for (const NamedTensor& parameter : program.parameters) {
    if (seen[parameter.value] || !program.values[parameter.value].requires_grad) continue;
    seen[parameter.value] = true;
    out.push_back(Argument::OfValue(parameter.value));
  }
  return out;
}

}  // namespace

std::span<const OptimizerInfo> Optimizers() { return kOptimizers; }

Result<Program> AppendOptimizer(Program program, const TrainOptions& options) {
  const auto* optimizer = std::ranges::find(kOptimizers, options.optimizer, &OptimizerInfo::name);
  if (optimizer == kOptimizers.end()) {
    std::string names;
    for (const OptimizerInfo& known : kOptimizers) {
      names.append(names.empty() ? "" : ", ").append(known.name);
    }
    return Unexpected(UsageError(fmt::format("there is no optimizer \"{}\"", options.optimizer), "",
                                 fmt::format("The optimizers are: {}.", names)));
  }
  const Argument list = Argument::OfList(program.AddArguments(TrainedParameters(program)));
  const std::array step{list, Argument::OfBool(options.first_step)};
  AppendCall(program, optimizer->op, step, {}, Phase::kOptimizer);
  const std::array drop{list, Argument::OfString(program.strings.Intern(optimizer->class_name))};
  AppendCall(program, "steelyard::zero_grad", drop, {}, Phase::kOptimizer);
  return program;
}

}  // namespace steelyard
