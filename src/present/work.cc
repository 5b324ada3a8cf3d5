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
Row WorkRow(std::string label, Quantity figure, std::string convention) {
  return {.cells = {std::move(label), figure, std::move(convention)}, .one_scale = true};
}

void SetPhases(std::int64_t forward, std::int64_t backward, std::int64_t optimizer, Unit unit,
               report::Data* data) {
  data->SetInt("forward", forward, unit);
  data->SetInt("backward", backward, unit);
  data->SetInt("optimizer", optimizer, unit);
}

}  // namespace

void AppendWork(const Findings& findings, report::Document* document) {
  const NodeWork forward = ByPhase(findings.work).forward;
  const report::Claim claim = findings.claim();
  const Convention& convention = *findings.work.convention;
  const std::int64_t moved = Moved(forward);
  const double intensity = FractionOf(forward.flops_all, moved);
  report::Table table;
  table.columns = {{.key = "quantity", .header = "Work"},
                   {.key = "forward", .header = "forward", .align = report::Align::kRight},
                   {.key = "convention"}};
  table.rows = {
      WorkRow("", In(UnitOf(convention), forward.flops, claim),
              std::string(convention.summary) + " (--count " + std::string(convention.name) + ")"),
      WorkRow("", In(Unit::kFlops, forward.flops_all, claim),
              "arithmetic of every operator (--count all)"),
      WorkRow("moved", In(Unit::kTraffic, moved, claim),
              "operands and results of each kernel, once"),
      WorkRow("", {.value = intensity, .unit = Unit::kFlopsPerByte},
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
