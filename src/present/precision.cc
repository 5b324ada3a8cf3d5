// SPDX-License-Identifier: Apache-2.0
//
// Beside each other stand the same model without autocast and with it: the peak, the categories
// that differ and the traffic. Then the casts, and what stayed in float32 with the reason for it,
// as a sentence for people and as a word for programs; what is not shown is one row.

#include "present/precision.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/casts.h"
#include "ir/text_words.h"
#include "present/categories.h"
#include "present/names.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;

std::string_view WordsOf(WideReason reason) {
  switch (reason) {
    case WideReason::kListed:
      return "autocast computes it in float32";
    case WideReason::kPromoted:
      return "takes the widest of its operands";
    case WideReason::kFollows:
      return "autocast leaves it alone: its operands are float32";
    case WideReason::kKept:
      return "low outside, but computes in float32 inside, or as --cast says";
    case WideReason::kMajority:
      return "most of its operands are float32";
    case WideReason::kNoRule:
      return "RAF has no rule for it";
  }
  __builtin_unreachable();
}

Row BeforeAndAfter(report::Span name, std::int64_t before, std::int64_t after, Unit unit) {
  return {.cells = {std::move(name), In(unit, before), In(unit, after),
                    Quantity{.value = after - before, .unit = unit, .sign = Sign::kAlways}},
          .level = 1};
}

// Without and with autocast: the peak, what fills it, and what all kernels move.
report::Table Effect(const Findings& findings) {
  const Baseline& before = *findings.baseline;
  report::Table table;
  table.columns = {{.key = "figure", .header = "Mixed precision"},
                   NumberColumn("without", "without", Unit::kNone),
                   NumberColumn("with", std::string(findings.autocast), Unit::kNone),
                   NumberColumn("difference", "difference", Unit::kNone)};
  table.rows.push_back(BeforeAndAfter("peak", before.peak_bytes, findings.peak.peak, Unit::kBytes));
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    const std::int64_t without = Of(before.at_peak, category);
    const std::int64_t with = Of(findings.peak.at_peak, category);
    if (without == with) continue;
    table.rows.push_back(
        BeforeAndAfter(std::string(LabelOfCategory(category)), without, with, Unit::kBytes));
    table.rows.back().level = 2;
  }
  table.rows.push_back(BeforeAndAfter("moved by kernels", before.moved_bytes,
                                      Moved(TotalOf(findings.work)), Unit::kTraffic));
  return table;
}

// One line for what `top` leaves out.
template <class T, class Add>
T SumOfRest(const std::vector<T>& items, std::size_t shown, const Add& add) {
  T rest;
  for (std::size_t i = shown; i < items.size(); ++i) add(items[i], &rest);
  return rest;
}

Row CastRow(report::Span name, std::string words, const CastGroup& group) {
  return {.cells = {std::move(name), std::move(words), In(Unit::kCount, group.casts),
                    In(Unit::kBytes, group.bytes), In(Unit::kTraffic, group.moved),
                    In(Unit::kBytes, group.at_peak)}};
}

report::Table Casts(const CastReport& report, std::size_t top) {
  report::Table table;
  table.columns = {{.key = "operator", .header = "Casts of"},
                   {.key = "tensors", .header = "", .priority = 1},
                   NumberColumn("casts", "casts", Unit::kCount),
                   NumberColumn("bytes", "make", Unit::kBytes, 2),
                   NumberColumn("moved", "moved", Unit::kTraffic),
                   NumberColumn("at_peak", "at the peak", Unit::kBytes)};
  const std::size_t shown = std::min(report.casts.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const CastGroup& group = report.casts[i];
    table.rows.push_back(CastRow(
        std::string(group.op),
        fmt::format("{} to {}, {}", NameOf(group.of), NameOf(group.to), WordOf(group.phase)),
        group));
  }
  if (shown == report.casts.size()) return table;
  const CastGroup rest = SumOfRest(report.casts, shown, [](const CastGroup& one, CastGroup* sum) {
    sum->casts += one.casts;
    sum->bytes += one.bytes;
    sum->moved += one.moved;
    sum->at_peak += one.at_peak;
  });
  const auto others = static_cast<std::int64_t>(report.casts.size() - shown);
  table.rows.push_back(CastRow({Counted(others, "other"), report::Style::kDim}, {}, rest));
  return table;
}

Row WideRow(report::Span name, const WideOperator& op, std::string_view why) {
  return {.cells = {std::move(name), In(Unit::kCount, op.calls),
                    In(Unit::kFlops, op.work.flops_all), In(Unit::kTraffic, Moved(op.work)),
                    std::string(why)}};
}

report::Table Wide(const CastReport& report, std::size_t top) {
  report::Table table;
  table.columns = {{.key = "operator", .header = "In float32"},
                   NumberColumn("calls", "calls", Unit::kCount),
                   NumberColumn("flops_all", "all arithmetic", Unit::kFlops, 2),
                   NumberColumn("moved", "moved", Unit::kTraffic),
                   {.key = "reason", .header = "why", .priority = 1, .fit = report::Fit::kWrap}};
  const std::size_t shown = std::min(report.wide.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    const WideOperator& op = report.wide[i];
    table.rows.push_back(WideRow(std::string(op.op), op, WordsOf(op.reason)));
  }
  if (shown == report.wide.size()) return table;
  const auto add = [](const WideOperator& one, WideOperator* sum) {
    sum->calls += one.calls;
    sum->work += one.work;
  };
  const auto others = static_cast<std::int64_t>(report.wide.size() - shown);
  table.rows.push_back(WideRow({Counted(others, "other"), report::Style::kDim},
                               SumOfRest(report.wide, shown, add), ""));
  return table;
}

void AddCasts(const CastReport& report, report::Data* data) {
  data->OpenArray("casts");
  for (const CastGroup& group : report.casts) {
    data->OpenObject();
    data->SetText("op", group.op);
    data->SetText("of", NameOf(group.of));
    data->SetText("phase", WordOf(group.phase));
    data->SetText("from", NameOf(group.from));
    data->SetText("to", NameOf(group.to));
    data->SetInt("casts", group.casts, Unit::kCount);
    data->SetInt("bytes", group.bytes, Unit::kBytes);
    data->SetInt("moved", group.moved, Unit::kTraffic);
    data->SetInt("at_peak", group.at_peak, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

void AddWide(const CastReport& report, report::Data* data) {
  data->OpenArray("wide");
  for (const WideOperator& op : report.wide) {
    data->OpenObject();
    data->SetText("op", op.op);
    data->SetText("reason", NameOf(op.reason));
    data->SetInt("calls", op.calls, Unit::kCount);
    data->SetInt("flops_all", op.work.flops_all, Unit::kFlops);
    data->SetInt("moved", Moved(op.work), Unit::kTraffic);
    data->Close();
  }
  data->Close();
}

}  // namespace

void AppendPrecision(const Findings& findings, int top, report::Document* document) {
  if (findings.casts == nullptr) return;
  if (findings.baseline != nullptr) document->body.emplace_back(Effect(findings));
  const auto most = static_cast<std::size_t>(std::max(top, 0));
  if (most == 0) return;
  if (!findings.casts->casts.empty()) document->body.emplace_back(Casts(*findings.casts, most));
  if (!findings.casts->wide.empty()) document->body.emplace_back(Wide(*findings.casts, most));
}

void AddPrecisionData(const Findings& findings, report::Data* data) {
  if (findings.casts == nullptr) return;
  data->OpenObject("precision");
  data->SetText("dtype", findings.autocast);
  if (const Baseline* before = findings.baseline) {
    data->OpenObject("without");
    data->SetInt("peak", before->peak_bytes, Unit::kBytes);
    data->SetInt("moved", before->moved_bytes, Unit::kTraffic);
    data->OpenObject("at_peak");
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const auto category = static_cast<Category>(i);
      if (!IsTold(category, Of(before->at_peak, category))) continue;
      data->SetInt(NameOf(category), Of(before->at_peak, category), Unit::kBytes);
    }
    data->Close();
    data->Close();
  }
  AddCasts(*findings.casts, data);
  AddWide(*findings.casts, data);
  data->Close();
}

}  // namespace steelyard::present
