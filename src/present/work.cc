// SPDX-License-Identifier: Apache-2.0
//
// Decides which figures stand beside each other: the chosen convention and what its tool prints or
// leaves out, then what does not depend on it, each with a phrase that says what it counts. The
// loss is part of the forward pass; what runs again is part of the step, but not of what the model
// needs.

#include "present/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "present/findings.h"
#include "present/names.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;

// The phases by their keys; the loss belongs to the forward.
struct WorkByPhase {
  NodeWork forward, recompute, backward, optimizer;
  bool recomputes() const { return recompute.flops_all > 0 || recompute.read > 0; }
};

WorkByPhase ByPhase(const WorkReport& work) {
  WorkByPhase phases{work.of(Phase::kForward), work.of(Phase::kRecompute),
                     work.of(Phase::kBackward), work.of(Phase::kOptimizer)};
  phases.forward += work.of(Phase::kLoss);
  return phases;
}

// One figure with the convention it follows. The unit goes before `label`: "GB" + "moved".
Row WorkRow(std::string label, const std::vector<Quantity>& figures, std::string convention) {
  Row row{.cells = {std::move(label)}, .one_scale = true};
  for (const Quantity& figure : figures) row.cells.emplace_back(figure);
  row.cells.emplace_back(std::move(convention));
  return row;
}

// What the step needs, and what it runs.
NodeWork ModelStep(const WorkByPhase& phases) {
  NodeWork step = phases.forward;
  step += phases.backward;
  step += phases.optimizer;
  return step;
}
NodeWork Step(const WorkByPhase& phases) {
  NodeWork step = ModelStep(phases);
  step += phases.recompute;
  return step;
}

template <class Figure>
void SetPhases(const WorkByPhase& phases, const Figure& figure, Unit unit, report::Data* data) {
  data->SetInt("forward", figure(phases.forward), unit);
  data->SetInt("backward", figure(phases.backward), unit);
  data->SetInt("optimizer", figure(phases.optimizer), unit);
  if (phases.recomputes()) data->SetInt("recompute", figure(phases.recompute), unit);
}

// "The model's step is 1.2 TFLOP of arithmetic; what runs again adds 0.3 TFLOP, 25 % more."
void AppendRecompute(const Findings& findings, report::Document* document) {
  const WorkByPhase phases = ByPhase(findings.work);
  if (!phases.recomputes()) return;
  const NodeWork model = ModelStep(phases);
  const double share = static_cast<double>(phases.recompute.flops_all) /
                       static_cast<double>(std::max<std::int64_t>(model.flops_all, 1));
  document->body.emplace_back(report::Paragraph{
      {"The model's step is ", In(Unit::kFlops, model.flops_all, findings.claim()),
       " of arithmetic; what runs again adds ",
       In(Unit::kFlops, phases.recompute.flops_all, findings.claim()), ", ",
       Quantity{.value = share, .unit = Unit::kPercent, .claim = findings.ratio_claim()}, " more."},
      1});
}

void AddStepData(const WorkByPhase& phases, report::Data* data) {
  const NodeWork model = ModelStep(phases), step = Step(phases);
  data->OpenObject("step");
  data->SetInt("model_flops", ContractionFlops(model), Unit::kFlops);
  data->SetInt("executed_flops", ContractionFlops(step), Unit::kFlops);
  data->SetInt("model_flops_all", model.flops_all, Unit::kFlops);
  data->SetInt("executed_flops_all", step.flops_all, Unit::kFlops);
  data->Close();
}

// The phases of a step, as columns of the table: the forward pass alone where nothing is trained.
struct Columns {
  std::vector<std::string> headers{"forward"};
  std::vector<NodeWork> figures;
};
Columns ColumnsOf(const Findings& findings) {
  const WorkByPhase phases = ByPhase(findings.work);
  Columns out;
  out.figures.push_back(phases.forward);
  if (!findings.trains()) return out;
  if (phases.recomputes()) {
    out.figures.push_back(phases.recompute);
    out.headers.emplace_back("run again");
  }
  out.figures.insert(out.figures.end(), {phases.backward, phases.optimizer, Step(phases)});
  out.headers.insert(out.headers.end(), {"backward", "optimizer", "step"});
  return out;
}

// Where there is no room, the total of a step stays.
int PriorityOf(std::size_t phase, std::size_t phases) {
  return phase + 1 == phases ? 0 : 1 + static_cast<int>(phase);
}

report::Table TableWith(const std::vector<std::string>& headers) {
  report::Table table;
  table.columns = {{.key = "quantity", .header = "Work"},
                   {.key = "convention", .priority = 9, .fit = report::Fit::kWrap}};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    table.columns.insert(table.columns.end() - 1, {.key = headers[i],
                                                   .header = headers[i],
                                                   .align = report::Align::kRight,
                                                   .priority = PriorityOf(i, headers.size())});
  }
  return table;
}

}  // namespace

void AppendWork(const Findings& findings, report::Document* document) {
  const Columns columns = ColumnsOf(findings);
  report::Table table = TableWith(columns.headers);
  const auto add_quantities = [&](std::string label, const auto& quantity, std::string words) {
    std::vector<Quantity> figures;
    figures.reserve(columns.figures.size());
    for (const NodeWork& work : columns.figures) figures.push_back(quantity(work));
    table.rows.push_back(WorkRow(std::move(label), figures, std::move(words)));
  };
  const Claim claim = findings.claim();
  const auto add = [&](std::string label, Unit unit, const auto& figure, std::string words) {
    add_quantities(
        std::move(label), [&](const NodeWork& w) { return In(unit, figure(w), claim); },
        std::move(words));
  };
  const Convention& convention = *findings.work.convention;
  const NodeWork all = TotalOf(findings.work);
  add(
      fmt::format("({})", convention.name), UnitOf(convention),
      [](const NodeWork& w) { return w.flops; },
      fmt::format("{} (--count {})", convention.summary, convention.name));
  if (convention.beside != nullptr) {
    add(
        fmt::format("({})", convention.beside->name), convention.beside->unit,
        [](const NodeWork& w) { return w.beside; },
        fmt::format("{} that {} prints as well", convention.beside->name, convention.name));
  }
  if (all.missed > 0) {
    add(
        "left out", Unit::kMacs, [](const NodeWork& w) { return w.missed; },
        fmt::format("multiply-adds that {}'s own counter leaves out{}", convention.name,
                    convention.counts_calls() ? "" : "; counted here all the same"));
  }
  if (all.masked > 0) {
    add(
        "(unmasked)", Unit::kFlops,
        [](const NodeWork& w) { return ContractionFlops(w) - SumOf(w.masked, w.masked); },
        "contractions without what attention masks hide (torch counts it)");
  }
  if (convention.name != "all") {
    add(
        "(all)", Unit::kFlops, [](const NodeWork& w) { return w.flops_all; },
        "arithmetic of every operator (--count all)");
  }
  add(
      "moved", Unit::kTraffic, [](const NodeWork& w) { return Moved(w); },
      "operands and results of each kernel, once");
  add_quantities(
      "",
      [&](const NodeWork& w) {
        return Quantity{
            .value = IntensityOf(w), .unit = Unit::kFlopsPerByte, .claim = findings.ratio_claim()};
      },
      "arithmetic intensity, of all operators");
  document->body.emplace_back(std::move(table));
  AppendRecompute(findings, document);
}

void AddWorkData(const Findings& findings, report::Data* data) {
  const WorkByPhase phases = ByPhase(findings.work);
  const Convention& convention = *findings.work.convention;
  const auto add = [&](std::string_view key, Unit unit, const auto& figure) {
    data->OpenObject(key);
    SetPhases(phases, figure, unit, data);
    data->Close();
  };
  data->OpenObject("convention");
  data->SetText("name", convention.name);
  data->SetText("description", convention.summary);
  data->SetText("source", convention.source);
  SetPhases(phases, [](const NodeWork& w) { return w.flops; }, UnitOf(convention), data);
  data->SetText("measure", convention.measure.name);
  data->SetInt("left_out_macs", TotalOf(findings.work).missed, Unit::kMacs);
  data->SetInt("excess_macs", TotalOf(findings.work).excess, Unit::kMacs);
  if (convention.prints_rounded) {
    data->SetDouble("printed_gflops", findings.work.printed_billions, Unit::kNone);
  }
  if (convention.beside != nullptr) {
    data->OpenObject("beside");
    data->SetText("measure", convention.beside->name);
    SetPhases(phases, [](const NodeWork& w) { return w.beside; }, convention.beside->unit, data);
    data->Close();
  }
  data->Close();
  add("flops", Unit::kFlops, ContractionFlops);
  add("flops_masked", Unit::kFlops,
      [](const NodeWork& w) { return ContractionFlops(w) - SumOf(w.masked, w.masked); });
  add("flops_all", Unit::kFlops, [](const NodeWork& w) { return w.flops_all; });
  data->OpenObject("macs");
  data->SetInt("forward", phases.forward.macs, Unit::kMacs);
  data->SetInt("backward", phases.backward.macs, Unit::kMacs);
  if (phases.recomputes()) data->SetInt("recompute", phases.recompute.macs, Unit::kMacs);
  data->Close();
  add("traffic", Unit::kTraffic, Moved);
  data->OpenObject("flops_per_byte");
  data->SetDouble("forward", IntensityOf(phases.forward), Unit::kFlopsPerByte);
  data->SetDouble("backward", IntensityOf(phases.backward), Unit::kFlopsPerByte);
  data->SetDouble("optimizer", IntensityOf(phases.optimizer), Unit::kFlopsPerByte);
  data->Close();
  if (phases.recomputes()) AddStepData(phases, data);
}

void SetWork(const NodeWork& work, Unit counted, report::Data* data) {
  data->SetInt("macs", work.macs, Unit::kMacs);
  data->SetInt("flops", ContractionFlops(work), Unit::kFlops);
  data->SetInt("flops_all", work.flops_all, Unit::kFlops);
  data->SetInt("read", work.read, Unit::kTraffic);
  data->SetInt("written", work.written, Unit::kTraffic);
  data->SetDouble("flops_per_byte", IntensityOf(work), Unit::kFlopsPerByte);
  data->SetInt("counted", work.flops, counted);
}

}  // namespace steelyard::present
