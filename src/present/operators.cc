// SPDX-License-Identifier: Apache-2.0
//
// Operators are the author's, kinds are those of the kernels; both have their shares of the same
// total. What is not shown is one row, so that shares add up. If anything was not modelled, totals
// are said to be lower bounds, and a call that a row refused has its reason beside it.

#include "present/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "present/findings.h"
#include "present/names.h"
#include "present/work.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;

// An operator's own figures are exact where it is modelled; what it has of all is not where another
// is not.
Row OperatorRow(report::Span name, const OperatorWork& op, const Findings& findings) {
  const Unit unit = UnitOf(*findings.work.convention);
  const NodeWork all = TotalOf(findings.work);
  Row row;
  row.cells = {std::move(name),
               In(Unit::kCount, op.calls),
               In(unit, op.work.flops),
               ShareOf(op.work.flops, all.flops, findings.ratio_claim()),
               In(Unit::kFlops, op.work.flops_all),
               In(Unit::kTraffic, Moved(op.work)),
               Quantity{.value = IntensityOf(op.work), .unit = Unit::kFlopsPerByte}};
  return row;
}

report::Table EmptyTable(const Convention& convention) {
  report::Table table;
  table.columns = {{.key = "operator", .header = "By operator"},
                   NumberColumn("calls", "calls", Unit::kCount),
                   NumberColumn("work", WorkHeader(convention), UnitOf(convention)),
                   NumberColumn("share", "share", Unit::kPercent),
                   NumberColumn("flops_all", "all arithmetic", Unit::kFlops, 1),
                   NumberColumn("moved", "moved", Unit::kTraffic),
                   NumberColumn("flops_per_byte", "intensity", Unit::kFlopsPerByte, 2)};
  return table;
}

void AddOperator(const OperatorWork& op, Unit unit, report::Data* data) {
  data->OpenObject();
  data->SetText("op", op.name);
  data->SetInt("calls", op.calls, Unit::kCount);
  SetWork(op.work, unit, data);
  data->Close();
}

}  // namespace

void AppendOperators(const Findings& findings, int top, report::Document* document) {
  const std::vector<OperatorWork>& operators = findings.work.by_operator;
  if (operators.empty() || top <= 0) return;
  report::Table table = EmptyTable(*findings.work.convention);
  const std::size_t shown = std::min(operators.size(), static_cast<std::size_t>(top));
  for (std::size_t i = 0; i < shown; ++i) {
    table.rows.push_back(OperatorRow(operators[i].name, operators[i], findings));
  }
  if (shown < operators.size()) {
    OperatorWork rest;
    for (std::size_t i = shown; i < operators.size(); ++i) {
      rest.calls += operators[i].calls;
      rest.work += operators[i].work;
    }
    const auto others = static_cast<std::int64_t>(operators.size() - shown);
    table.rows.push_back(
        OperatorRow({Counted(others, "other"), report::Style::kDim}, rest, findings));
  }
  document->body.emplace_back(std::move(table));
}

void AppendKinds(const Findings& findings, report::Document* document) {
  const Unit unit = UnitOf(*findings.work.convention);
  const NodeWork all = TotalOf(findings.work);
  report::Table table;
  table.columns = {{.key = "kind", .header = "By kind of operator"},
                   NumberColumn("kernels", "kernels", Unit::kCount),
                   NumberColumn("work", WorkHeader(*findings.work.convention), unit),
                   NumberColumn("work_share", "share", Unit::kPercent),
                   NumberColumn("flops_all", "all arithmetic", Unit::kFlops, 1),
                   NumberColumn("moved", "moved", Unit::kTraffic),
                   NumberColumn("moved_share", "share", Unit::kPercent),
                   NumberColumn("held", "held at the peak", Unit::kBytes),
                   NumberColumn("held_share", "share", Unit::kPercent)};
  for (const KindReport& kind : findings.kinds) {
    Row row;
    row.cells = {std::string(NameOf(kind.family)),
                 In(Unit::kCount, kind.kernels),
                 In(unit, kind.work.flops),
                 ShareOf(kind.work.flops, all.flops),
                 In(Unit::kFlops, kind.work.flops_all),
                 In(Unit::kTraffic, Moved(kind.work)),
                 ShareOf(Moved(kind.work), Moved(all)),
                 In(Unit::kBytes, kind.held),
                 ShareOf(kind.held, findings.peak.peak_delta)};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AppendUnmodelled(const Findings& findings, report::Document* document) {
  const std::vector<OperatorWork>& unmodelled = findings.work.unmodelled;
  if (unmodelled.empty()) return;
  report::NoteList warning{.style = report::Style::kWarning};
  warning.notes.push_back(
      {"totals are lower bounds: the work and the scratch memory of the operators below are not "
       "known. Their results are counted as the file gives them."});
  document->body.emplace_back(std::move(warning));
  report::Table table;
  table.columns = {{.key = "operator", .header = "Not modelled"},
                   NumberColumn("calls", "calls", Unit::kCount),
                   NumberColumn("share", "of all", Unit::kPercent)};
  const auto refused = [](const OperatorWork& op) { return !op.reason.empty(); };
  const bool with_reasons = std::ranges::any_of(unmodelled, refused);
  if (with_reasons) table.columns.push_back({.key = "reason", .header = "why"});
  for (const OperatorWork& op : unmodelled) {
    Row row;
    row.cells = {op.name, In(Unit::kCount, op.calls), ShareOf(op.calls, findings.work.calls)};
    if (with_reasons) row.cells.emplace_back(refused(op) ? op.reason : "it has no row");
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AddKinds(const Findings& findings, report::Data* data) {
  data->OpenArray("kinds");
  for (const KindReport& kind : findings.kinds) {
    data->OpenObject();
    data->SetText("kind", NameOf(kind.family));
    data->SetInt("kernels", kind.kernels, Unit::kCount);
    SetWork(kind.work, UnitOf(*findings.work.convention), data);
    data->SetInt("held", kind.held, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

void AddOperatorData(const Findings& findings, report::Data* data) {
  data->OpenArray("operators");
  for (const OperatorWork& op : findings.work.by_operator) {
    AddOperator(op, UnitOf(*findings.work.convention), data);
  }
  data->Close();
  data->OpenArray("unmodelled");
  for (const OperatorWork& op : findings.work.unmodelled) {
    data->OpenObject();
    data->SetText("op", op.name);
    data->SetInt("count", op.calls, Unit::kCount);
    if (!op.reason.empty()) data->SetText("reason", op.reason);
    data->Close();
  }
  data->Close();
  data->OpenObject("modelled");
  data->SetInt("operators", findings.work.modelled_calls, Unit::kCount);
  data->SetInt("of", findings.work.calls, Unit::kCount);
  data->Close();
}

}  // namespace steelyard::present
