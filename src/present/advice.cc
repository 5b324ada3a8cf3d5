// SPDX-License-Identifier: Apache-2.0
#include "present/advice.h"

#include <utility>

#include "present/names.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;

// "more work" of a change: "26.0 % more" and the like stand in the table as a share with its sign.
Quantity ShareOfWork(const Advice& advice, Claim claim) {
  const std::int64_t before = advice.executed_flops - advice.extra_flops;
  const double share =
      before == 0 ? 0 : static_cast<double>(advice.extra_flops) / static_cast<double>(before);
  return {.value = share, .unit = Unit::kPercent, .claim = claim, .sign = Sign::kAlways};
}

}  // namespace

void AppendAdvice(const Findings& findings, report::Document* document) {
  if (findings.advice == nullptr) return;
  if (findings.advice->empty()) {
    document->body.emplace_back(report::Headline{
        "What would help", {"nothing that was tried lowers the peak of the step"}});
    return;
  }
  report::Table table;
  using report::Align;
  using report::Fit;
  table.columns = {{.key = "peak", .header = "What would help"},
                   {.key = "less", .header = "less", .align = Align::kRight},
                   {.key = "work", .header = "work", .align = Align::kRight, .priority = 1},
                   {.key = "change", .header = "with", .fit = Fit::kWrap},
                   {.key = "description", .priority = 2, .fit = Fit::kWrap}};
  bool marked = false;
  for (const Advice& advice : *findings.advice) {
    Row row;
    row.cells.emplace_back(In(Unit::kBytes, advice.peak, findings.memory_claim()));
    row.cells.emplace_back(In(Unit::kBytes, advice.less));
    row.cells.emplace_back(ShareOfWork(advice, findings.ratio_claim()));
    row.cells.emplace_back(advice.changes_training ? advice.change + " *" : advice.change);
    row.cells.emplace_back(advice.words, report::Style::kDim);
    marked |= advice.changes_training;
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
  if (marked) {
    document->body.emplace_back(report::Paragraph{
        {"* training changes, and another optimizer's options are to be found again."}, 1});
  }
}

void AddAdviceData(const Findings& findings, report::Data* data) {
  if (findings.advice == nullptr) return;
  data->OpenArray("advice");
  for (const Advice& advice : *findings.advice) {
    data->OpenObject();
    data->SetText("change", advice.change);
    data->SetText("description", advice.words);
    data->SetInt("peak", advice.peak, Unit::kBytes);
    data->SetInt("less", advice.less, Unit::kBytes);
    data->SetInt("extra_flops", advice.extra_flops, Unit::kFlops);
    data->SetInt("executed_flops", advice.executed_flops, Unit::kFlops);
    data->SetBool("changes_training", advice.changes_training);
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
