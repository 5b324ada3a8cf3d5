// SPDX-License-Identifier: Apache-2.0
//
// A training step goes by the optimizers that the program itself calls, be they asked for or
// written in the file; beside their state stands the textbook's only if there is one optimizer and
// it has such a figure.

#include "session/findings.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/analyses.h"
#include "session/runtimes.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"
#include "support/assert.h"

namespace steelyard {
namespace {

// The optimizers whose rows the program calls, in order.
std::vector<const OptimizerInfo*> OptimizersIn(const Program& program) {
  std::vector<const OptimizerInfo*> of_op(program.op_names.size(), nullptr);
  bool any = false;
  for (const OptimizerInfo& optimizer : Optimizers()) {
    const OpId op = program.FindOpName(optimizer.op);
    if (op == kNoId) continue;
    of_op[op] = &optimizer;
    any = true;
  }
  std::vector<const OptimizerInfo*> found;
  if (!any) return found;
  for (const Node& node : program.main().nodes) {
    const OptimizerInfo* optimizer = of_op[node.op];
    if (optimizer == nullptr || (!found.empty() && optimizer == found.back())) continue;
    found.push_back(optimizer);
  }
  return found;
}

// "AdamW", or "Muon, AdamW".
std::string OptimizersOf(const Program& program) {
  std::vector<std::string_view> names;
  for (const OptimizerInfo* optimizer : OptimizersIn(program)) {
    names.push_back(optimizer->class_name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What the table that people know gives the state of the program's one optimizer, in bytes for each
// parameter; nothing for an optimizer that keeps none here.
std::optional<int> TextbookState(const Program& program, const TrainingState& training) {
  const std::vector<const OptimizerInfo*> optimizers = OptimizersIn(program);
  if (optimizers.size() != 1 || optimizers[0]->textbook_state == 0) return std::nullopt;
  return training.optimizer_state == 0 ? 0 : optimizers[0]->textbook_state;
}

// "forward, loss, backward, AdamW, zero_grad"; empty without a training step. One may stand in the
// file.
std::string StepOf(const TrainOptions& train, const Program& program) {
  if (train.optimizer.empty()) {
    return program.FindOpName(kBackwardOp) == kNoId ? std::string() : "as the program writes it";
  }
  std::string words = "forward, loss, backward, ";
  if (train.accumulate > 1) words = fmt::format("{}× forward, loss, backward; ", train.accumulate);
  if (train.clip_norm) words += "clip_grad_norm_, ";
  if (train.clip_value) words += "clip_grad_value_, ";
  words += OptimizersOf(program) + ", zero_grad";
  if (train.keep_gradients) words += " to zeros";
  return words;
}

}  // namespace

present::Findings FindingsOf(const Weighing& weighing) {
  SY_ASSERT(weighing.analyses != nullptr, "only what was weighed is described");
  return {.imported = weighing.imported,
          .kernels = weighing.kernels,
          .timeline = weighing.timeline,
          .parameters = weighing.analyses->parameters,
          .work = weighing.analyses->work,
          .peak = weighing.analyses->peak,
          .training = weighing.analyses->training,
          .kinds = weighing.analyses->kinds,
          .runtime = weighing.options.runtime,
          .runtime_title = FindRuntime(weighing.options.runtime)->title,
          .graph = weighing.analyses->graph ? &*weighing.analyses->graph : nullptr,
          .moment = weighing.analyses->moment ? &*weighing.analyses->moment : nullptr,
          .modules = weighing.analyses->modules,
          .classes = weighing.analyses->classes,
          .counts = weighing.analyses->counts,
          .target = weighing.options.target,
          .path = weighing.options.path,
          .asked = weighing.options.at,
          .optimizer = OptimizersOf(weighing.imported),
          .step = StepOf(weighing.options.train, weighing.imported),
          .first_step = weighing.options.train.first_step,
          .ranks = weighing.options.train.ranks,
          .parallel = weighing.options.train.parallel.wrapper,
          .textbook_state = TextbookState(weighing.imported, weighing.analyses->training),
          .autocast = weighing.options.amp.dtype ? NameOf(*weighing.options.amp.dtype) : "",
          .casts = weighing.analyses->casts ? &*weighing.analyses->casts : nullptr,
          .baseline = weighing.baseline ? &*weighing.baseline : nullptr,
          .elapsed_seconds = weighing.elapsed_seconds,
          .times = weighing.times,
          .device = weighing.analyses->device ? &*weighing.analyses->device : nullptr,
          .fit = weighing.fit ? &*weighing.fit : nullptr,
          .devices = weighing.devices,
          .allocators = weighing.allocators,
          .advice = weighing.options.advise ? &weighing.advice : nullptr,
          .generation = weighing.generation.get()};
}

}  // namespace steelyard
