// SPDX-License-Identifier: Apache-2.0
#include "present/work.h"

#include <fmt/core.h>

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

using report::Quantity;
using report::Row;

// The phases by their keys; the loss belongs to the forward.
struct WorkByPhase {
  NodeWork forward, backward, optimizer;
};

WorkByPhase ByPhase(const WorkReport& work) {
  WorkByPhase phases{work.of(Phase::kForward), work.of(Phase::kBackward),
                     work.of(Phase::kOptimizer)};
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

NodeWork Step(const WorkByPhase& phases) {
  NodeWork step = phases.forward;
  step += phases.backward;
  step += phases.optimizer;
  return step;
}

void SetPhases(std::int64_t forward, std::int64_t backward, std::int64_t optimizer, Unit unit,
               report::Data* data) {
  data->SetInt("forward", forward, unit);
  data->SetInt("backward", backward, unit);
  data->SetInt("optimizer", optimizer, unit);
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
  out.figures.insert(out.figures.end(), {phases.backward, phases.optimizer, Step(phases)});
  out.headers.insert(out.headers.end(), {"backward", "optimizer", "step"});
  return out;
}

report::Table TableWith(const std::vector<std::string>& headers) {
  report::Table table;
  table.columns = {{.key = "quantity", .header = "Work"}, {.key = "convention"}};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    table.columns.insert(table.columns.end() - 1, {.key = headers[i],
                                                   .header = headers[i],
                                                   .align = report::Align::kRight,
                                                   .priority = i == 0 ? 0 : 1});
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
    table.rows.push_back(WorkRow(std::move(label), std::move(figures), std::move(words)));
  };
  const report::Claim claim = findings.claim();
  const auto add = [&](std::string label, Unit unit, const auto& figure, std::string words) {
    add_quantities(
        std::move(label), [&](const NodeWork& w) { return In(unit, figure(w), claim); },
        std::move(words));
  };
  const Convention& convention = *findings.work.convention;
  const NodeWork all = TotalOf(findings.work);
  add(
      "", UnitOf(convention), [](const NodeWork& w) { return w.flops; },
      fmt::format("{} (--count {})", convention.summary, convention.name));
  if (convention.beside != nullptr) {
    add(
        "", convention.beside->unit, [](const NodeWork& w) { return w.beside; },
        fmt::format("{}, as {} gives them besides", convention.beside->name, convention.name));
  }
  if (all.missed > 0) {
    add(
        "", Unit::kMacs, [](const NodeWork& w) { return w.missed; },
        "multiply-adds that the tool itself leaves out");
  }
  if (all.masked > 0) {
    add(
        "", Unit::kFlops,
        [](const NodeWork& w) { return ContractionFlops(w) - SumOf(w.masked, w.masked); },
        "contractions without what attention masks hide (torch counts it)");
  }
  add(
      "", Unit::kFlops, [](const NodeWork& w) { return w.flops_all; },
      "arithmetic of every operator (--count all)");
  add(
      "moved", Unit::kTraffic, [](const NodeWork& w) { return Moved(w); },
      "operands and results of each kernel, once");
  add_quantities(
      "",
      [](const NodeWork& w) {
        return Quantity{.value = IntensityOf(w), .unit = Unit::kFlopsPerByte};
      },
      "arithmetic intensity, of all operators");
  document->body.emplace_back(std::move(table));
}

void AddWorkData(const Findings& findings, report::Data* data) {
  const auto [forward, backward, optimizer] = ByPhase(findings.work);
  const Convention& convention = *findings.work.convention;
  data->OpenObject("convention");
  data->SetText("name", convention.name);
  data->SetText("description", convention.summary);
  data->SetText("source", convention.source);
  SetPhases(forward.flops, backward.flops, optimizer.flops, UnitOf(convention), data);
  data->SetText("measure", convention.measure.name);
  data->SetInt("left_out_macs", TotalOf(findings.work).missed, Unit::kMacs);
  if (convention.prints_rounded) {
    data->SetDouble("printed_gflops", findings.work.printed_billions, Unit::kNone);
  }
  if (convention.beside != nullptr) {
    data->OpenObject("beside");
    data->SetText("measure", convention.beside->name);
    SetPhases(forward.beside, backward.beside, optimizer.beside, convention.beside->unit, data);
    data->Close();
  }
  data->Close();
  data->OpenObject("flops");
  SetPhases(ContractionFlops(forward), ContractionFlops(backward), ContractionFlops(optimizer),
            Unit::kFlops, data);
  data->Close();
  data->OpenObject("flops_masked");
  const auto unmasked = [](const NodeWork& w) {
    return ContractionFlops(w) - SumOf(w.masked, w.masked);
  };
  SetPhases(unmasked(forward), unmasked(backward), unmasked(optimizer), Unit::kFlops, data);
  data->Close();
  data->OpenObject("flops_all");
  SetPhases(forward.flops_all, backward.flops_all, optimizer.flops_all, Unit::kFlops, data);
  data->Close();
  data->OpenObject("macs");
  data->SetInt("forward", forward.macs, Unit::kMacs);
  data->SetInt("backward", backward.macs, Unit::kMacs);
  data->Close();
  data->OpenObject("traffic");
  SetPhases(Moved(forward), Moved(backward), Moved(optimizer), Unit::kTraffic, data);
  data->Close();
  data->OpenObject("flops_per_byte");
  data->SetDouble("forward", IntensityOf(forward), Unit::kFlopsPerByte);
  data->SetDouble("backward", IntensityOf(backward), Unit::kFlopsPerByte);
  data->SetDouble("optimizer", IntensityOf(optimizer), Unit::kFlopsPerByte);
  data->Close();
}

}  // namespace steelyard::present
