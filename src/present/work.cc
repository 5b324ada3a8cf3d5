// SPDX-License-Identifier: Apache-2.0
#include "present/work.h"

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

}  // namespace

void AppendWork(const Findings& findings, report::Document* document) {
  const WorkByPhase phases = ByPhase(findings.work);
  std::vector<NodeWork> shown{phases.forward};
  std::vector<std::string> headers{"forward"};
  if (findings.trains()) {
    shown.insert(shown.end(), {phases.backward, phases.optimizer, Step(phases)});
    headers.insert(headers.end(), {"backward", "optimizer", "step"});
  }
  const report::Claim claim = findings.claim();
  const Convention& convention = *findings.work.convention;
  report::Table table;
  table.columns = {{.key = "quantity", .header = "Work"}, {.key = "convention"}};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    table.columns.insert(table.columns.end() - 1, {.key = headers[i],
                                                   .header = headers[i],
                                                   .align = report::Align::kRight,
                                                   .priority = i == 0 ? 0 : 1});
  }
  const auto each = [&](const auto& figure) {
    std::vector<Quantity> figures;
    figures.reserve(shown.size());
    for (const NodeWork& work : shown) figures.push_back(figure(work));
    return figures;
  };
  table.rows = {
      WorkRow("", each([&](const NodeWork& w) { return In(UnitOf(convention), w.flops, claim); }),
              std::string(convention.summary) + " (--count " + std::string(convention.name) + ")"),
      WorkRow("", each([&](const NodeWork& w) { return In(Unit::kFlops, w.flops_all, claim); }),
              "arithmetic of every operator (--count all)"),
      WorkRow("moved", each([&](const NodeWork& w) { return In(Unit::kTraffic, Moved(w), claim); }),
              "operands and results of each kernel, once"),
      WorkRow("", each([](const NodeWork& w) {
                return Quantity{.value = FractionOf(w.flops_all, Moved(w)),
                                .unit = Unit::kFlopsPerByte};
              }),
              "arithmetic intensity, of all operators")};
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
  data->Close();
  data->OpenObject("flops");
  SetPhases(ContractionFlops(forward), ContractionFlops(backward), ContractionFlops(optimizer),
            Unit::kFlops, data);
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
}

}  // namespace steelyard::present
