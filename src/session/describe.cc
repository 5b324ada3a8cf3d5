// SPDX-License-Identifier: Apache-2.0
//
// Decides which part of a report is built, the one that the format writes, and refuses what cannot
// be told: each event where equal micro-steps were weighed as one, and what runs where there are
// only weights.

#include <string>
#include <string_view>
#include <utility>

#include "present/findings.h"
#include "present/tables.h"
#include "present/trace.h"
#include "present/weigh.h"
#include "render/renderer.h"
#include "session/findings.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"

namespace steelyard {
namespace {

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
  const bool is_table = renderer.tables == TablesHeld::kOne;
  if (renderer.part != render::Part::kTrace && !(is_table && present::NeedsGraph(options.table))) {
    return {};
  }
  return Unexpected(Unsupported(
      "it holds weights and no graph: there is no " +
          (is_table ? "table of " + options.table : std::string("trace")),
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
