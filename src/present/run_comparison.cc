// SPDX-License-Identifier: Apache-2.0
//
// Everything is told of both runs in one row, and what the second is to the first beside it. Of the
// times that is the interval of the pairs' ratios; all else is a quotient of two numbers.
#include "present/run_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "present/names.h"
#include "present/run_stages.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;
using report::Style;

constexpr std::string_view kSchema = "steelyard.run-comparison/1";

using Sides = std::span<const RunSide>;
using Rows = std::array<std::vector<StageRow>, 2>;

Quantity Ratio(double ratio) { return {.value = ratio, .unit = Unit::kRatio}; }

// A header of each side, "Time", "fp32", "bf16", then these.
std::vector<report::Column> Columns(Sides sides, std::string title,
                                    std::vector<report::Column> more) {
  std::vector<report::Column> columns = {
      {.key = "what", .header = std::move(title)},
      NumberColumn("before", std::string(sides[0].name), Unit::kNone),
      NumberColumn("after", std::string(sides[1].name), Unit::kNone)};
  std::ranges::move(more, std::back_inserter(columns));
  return columns;
}

void AppendTimes(Sides sides, const Rows& rows, std::span<const StageRatio> ratios,
                 report::Document* document) {
  report::Table table;
  table.columns = Columns(sides, "Time",
                          {NumberColumn("ratio", "ratio", Unit::kRatio),
                           NumberColumn("lowest", "from", Unit::kRatio, 1),
                           NumberColumn("highest", "to", Unit::kRatio, 1)});
  for (const StageRow& before : rows[0]) {
    Row row;
    row.cells = {before.name, Seconds(before.seconds.median)};
    const auto after = std::ranges::find(rows[1], before.name, &StageRow::name);
    if (after != rows[1].end()) row.cells.emplace_back(Seconds(after->seconds.median));
    const auto ratio = std::ranges::find(ratios, before.name, &StageRatio::stage);
    if (ratio != ratios.end() && ratio->ratio.pairs > 0) {
      row.cells.emplace_back(Ratio(ratio->ratio.median), Style::kStrong);
      row.cells.emplace_back(Ratio(ratio->ratio.lowest));
      row.cells.emplace_back(Ratio(ratio->ratio.highest));
    }
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
  if (ratios.empty() || ratios.back().ratio.pairs == 0) return;
  const PairedRatio& whole = ratios.back().ratio;
  report::Sentence told = {std::string(sides[1].name) + " takes ",
                           {Ratio(whole.median), Style::kStrong},
                           fmt::format(" the time of {}", sides[0].name)};
  if (whole.confidence > 0) {
    told.emplace_back(": the median ratio is from ");
    told.emplace_back(Ratio(whole.lowest));
    told.emplace_back(" to ");
    told.emplace_back(Ratio(whole.highest));
    told.emplace_back(fmt::format(" with {} confidence, by {} repetitions in turns",
                                  Format(whole.confidence, Unit::kPercent), whole.pairs));
  }
  document->body.emplace_back(report::Paragraph{std::move(told)});
}

// A row of one number of each, and their quotient.
void AddPair(std::string_view label, Quantity before, Quantity after, double ratio,
             report::Table* table) {
  Row row;
  row.cells = {label, before, after};
  if (ratio > 0) row.cells.emplace_back(Ratio(ratio));
  table->rows.push_back(std::move(row));
}

double Quotient(double before, double after) { return before > 0 ? after / before : 0; }

void AddBytes(std::string_view label, std::int64_t before, std::int64_t after,
              report::Table* table) {
  if (before == 0 && after == 0) return;
  AddPair(label, In(Unit::kBytes, before), In(Unit::kBytes, after),
          Quotient(static_cast<double>(before), static_cast<double>(after)), table);
}

// What they compute in a second, and what share of the device's peaks that is.
void AppendSpeeds(Sides sides, const Rows& rows, report::Document* document) {
  report::Table table;
  table.columns = Columns(sides, "A second", {NumberColumn("ratio", "ratio", Unit::kRatio)});
  const double before = SecondsOf(rows[0]), after = SecondsOf(rows[1]);
  if (before <= 0 || after <= 0) return;
  const auto rate = [&](std::string_view label, auto count) {
    if (count(sides[0].run) <= 0) return;
    AddPair(label, Rate(count(sides[0].run), rows[0]), Rate(count(sides[1].run), rows[1]),
            before / after, &table);
  };
  rate("samples", [](const Run& run) { return run.samples; });
  rate("tokens", [](const Run& run) { return run.tokens; });
  const std::int64_t work[] = {rows[0].back().flops, rows[1].back().flops};
  AddPair("work", Speed(work[0], before), Speed(work[1], after),
          Quotient(SpeedOf(work[0], before), SpeedOf(work[1], after)), &table);
  const std::optional<Utilisation> first = UtilisationOf(sides[0].run, rows[0]);
  const std::optional<Utilisation> second = UtilisationOf(sides[1].run, rows[1]);
  if (first && second) {
    const auto share = [&](std::string_view label, double Utilisation::*member) {
      AddPair(label, {.value = (*first).*member, .unit = Unit::kPercent},
              {.value = (*second).*member, .unit = Unit::kPercent}, 0, &table);
    };
    share("model flops, of the peak", &Utilisation::model);
    share("executed flops, of the peak", &Utilisation::hardware);
    AddPair("the peak",
            {.value = sides[0].run.device_peak->flops_per_second, .unit = Unit::kFlopsPerSecond},
            {.value = sides[1].run.device_peak->flops_per_second, .unit = Unit::kFlopsPerSecond},
            Quotient(sides[0].run.device_peak->flops_per_second,
                     sides[1].run.device_peak->flops_per_second),
            &table);
  }
  document->body.emplace_back(std::move(table));
}

void AppendMemory(Sides sides, report::Document* document) {
  report::Table table;
  table.columns = Columns(sides, "Memory", {NumberColumn("ratio", "ratio", Unit::kRatio)});
  const Run &before = sides[0].run, &after = sides[1].run;
  AddBytes("peak", before.peak, after.peak, &table);
  AddBytes("peak, predicted", before.predicted_peak, after.predicted_peak, &table);
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    const std::int64_t first = before.findings.peak.at_peak[i];
    const std::int64_t second = after.findings.peak.at_peak[i];
    if (category == Category::kLibraries && first == 0 && second == 0) continue;
    AddBytes(fmt::format("of it {}", NameOf(category)), first, second, &table);
  }
  document->body.emplace_back(std::move(table));
}

// Kernels of an operator in both, the longest first.
struct Both {
  std::string_view name;
  double before = 0;
  double after = 0;
};

std::vector<Both> OperatorsOf(Sides sides) {
  std::vector<Both> both;
  const auto at = [&](std::string_view name) -> Both& {
    const auto found = std::ranges::find(both, name, &Both::name);
    return found != both.end() ? *found : both.emplace_back(Both{name});
  };
  for (const TimedOperator& op : TimedOperators(sides[0].run)) at(op.name).before = op.seconds;
  for (const TimedOperator& op : TimedOperators(sides[1].run)) at(op.name).after = op.seconds;
  std::ranges::stable_sort(both, std::ranges::greater(),
                           [](const Both& op) { return std::max(op.before, op.after); });
  return both;
}

void AppendOperators(Sides sides, const Shown& shown, report::Document* document) {
  const std::vector<Both> both = OperatorsOf(sides);
  if (both.empty() || shown.top <= 0) return;
  report::Table table;
  AppendHowKernelsWereTimed(sides[0].run.measurement, document);
  table.columns = Columns(sides, "By kernel", {NumberColumn("ratio", "ratio", Unit::kRatio)});
  for (const Both& op :
       std::span(both).first(std::min(both.size(), static_cast<std::size_t>(shown.top)))) {
    Row row;
    row.cells = {op.name, "", ""};
    if (op.before > 0) row.cells[1] = Seconds(op.before);
    if (op.after > 0) row.cells[2] = Seconds(op.after);
    if (op.before > 0 && op.after > 0) row.cells.emplace_back(Ratio(op.after / op.before));
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AddData(Sides sides, std::span<const StageRatio> ratios, report::Data* data) {
  data->SetText("schema", kSchema);
  data->SetText("model", ModelName(sides[0].run.findings.imported));
  data->OpenArray("precisions");
  for (const RunSide& side : sides) data->AddText(side.name);
  data->Close();
  data->OpenObject("ratios");
  for (const auto& [stage, ratio] : ratios) {
    if (ratio.pairs == 0) continue;
    data->OpenObject(stage);
    data->SetDouble("median", ratio.median, Unit::kRatio);
    data->SetDouble("lowest", ratio.lowest, Unit::kRatio);
    data->SetDouble("highest", ratio.highest, Unit::kRatio);
    data->SetDouble("confidence", ratio.confidence, Unit::kPercent);
    data->SetInt("pairs", ratio.pairs, Unit::kCount);
    data->Close();
  }
  data->Close();
  data->OpenObject("runs");
  for (const RunSide& side : sides) {
    data->OpenObject(side.name);
    AddRun(side.run, data);
    data->Close();
  }
  data->Close();
}

}  // namespace

void PresentRunComparison(Sides sides, std::span<const StageRatio> ratios, const Shown& shown,
                          report::Document* document) {
  AddData(sides, ratios, &document->data);
  const Run& first = sides[0].run;
  document->body.emplace_back(
      report::Headline{std::string(ModelName(first.findings.imported)),
                       {fmt::format("{} and {} in turns, run by {}", sides[0].name, sides[1].name,
                                    WhereItRan(first))}});
  const Rows rows{StageRows(sides[0].run), StageRows(sides[1].run)};
  if (first.measurement.runs > 0) {
    AppendTimes(sides, rows, ratios, document);
    AppendSpeeds(sides, rows, document);
  }
  AppendMemory(sides, document);
  AppendOperators(sides, shown, document);
  for (const RunSide& side : sides) AppendRemarks(side.run, side.name, document);
}

}  // namespace steelyard::present
