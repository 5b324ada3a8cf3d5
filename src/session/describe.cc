// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/findings.h"
#include "present/tables.h"
#include "present/trace.h"
#include "present/weigh.h"
#include "render/renderer.h"
#include "session/analyses.h"
#include "session/runtimes.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"
#include "support/assert.h"

namespace steelyard {
namespace {

// The format that writes one table.
constexpr std::string_view kCsv = "csv";

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
          .textbook_state = TextbookState(weighing.imported, weighing.analyses->training),
          .autocast = weighing.options.amp.dtype ? NameOf(*weighing.options.amp.dtype) : "",
          .casts = weighing.analyses->casts ? &*weighing.analyses->casts : nullptr,
          .baseline = weighing.baseline ? &*weighing.baseline : nullptr,
          .elapsed_seconds = weighing.elapsed_seconds,
          .times = weighing.times,
          .fit = weighing.fit ? &*weighing.fit : nullptr,
          .advice = weighing.options.advise ? &weighing.advice : nullptr,
          .generation = weighing.generation.get()};
}

present::Shown ShownOf(const ReportOptions& options) {
  return {.depth = options.depth,
          .top = options.top,
          .classes = options.classes,
          .detailed = options.detailed,
          .events = options.events,
          .timings = options.timings,
          .table = options.table};
}

// Of weights there is no trace, and no table of what runs.
Status RefuseForWeights(const render::Renderer& renderer, const ReportOptions& options) {
  const bool csv = renderer.name == kCsv;
  if (renderer.part != render::Part::kTrace && !(csv && present::NeedsGraph(options.table))) {
    return {};
  }
  return Unexpected(Unsupported(
      "it holds weights and no graph: there is no " +
          (csv ? "table of " + options.table : std::string("trace")),
      {}, "The text, the JSON and the tables of modules and tensors tell what there is."));
}

}  // namespace

report::Document Describe(const Weighing& weighing, const ReportOptions& options) {
  report::Document document;
  const present::Findings findings = FindingsOf(weighing);
  present::PresentData(findings, ShownOf(options), &document);
  present::PresentBody(findings, ShownOf(options), &document);
  present::PresentTrace(findings, &document);
  return document;
}

bool TellsEachStep(std::string_view format, const ReportOptions& options) {
  const render::Renderer* renderer = render::FindRenderer(format);
  const bool traces = renderer != nullptr && renderer->part == render::Part::kTrace;
  return traces || options.events || present::IsOfEachStep(options.table);
}

Result<std::string> WriteReport(const Weighing& weighing, std::string_view format,
                                const ReportOptions& options, const report::RenderOptions& render) {
  const render::Renderer* renderer = render::FindRenderer(format);
  if (renderer == nullptr) return report::Render({}, format, render);  // says which there are
  if (weighing.kernels.repeat.times > 1 && TellsEachStep(format, options)) {
    return Unexpected(UsageError("equal micro-steps were weighed as one", "the report",
                                 "Set TrainOptions::unroll for a report that tells each event."));
  }
  if (!weighing.kernels.has_graph) {
    Status told = RefuseForWeights(*renderer, options);
    if (!told) return Unexpected(Within(weighing.options.path, std::move(told).error()));
  }
  report::Document document;
  const present::Findings findings = FindingsOf(weighing);
  switch (renderer->part) {
    case render::Part::kBody:
      present::PresentBody(findings, ShownOf(options), &document);
      break;
    case render::Part::kData:
      present::PresentData(findings, ShownOf(options), &document);
      break;
    case render::Part::kTrace:
      present::PresentTrace(findings, &document);
      break;
  }
  std::string out;
  report::RenderOptions look = render;
  look.table = options.table;
  renderer->write(document, look, &out);
  return out;
}

}  // namespace steelyard
