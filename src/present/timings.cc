// SPDX-License-Identifier: Apache-2.0
#include "present/timings.h"

#include <string>
#include <utility>

#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {

void AppendTimings(const Findings& findings, report::Document* document) {
  report::Table table;
  table.columns = {
      {.key = "stage", .header = "Timings"},
      {.key = "seconds", .header = "time", .unit = Unit::kSeconds, .align = report::Align::kRight},
      {.key = "share", .header = "share", .unit = Unit::kPercent, .align = report::Align::kRight}};
  double sum = 0;
  for (const StageTime& time : findings.times) sum += time.seconds;
  for (const StageTime& time : findings.times) {
    const double share = sum > 0 ? time.seconds / sum : 0;
    table.rows.push_back(
        {.cells = {std::string(time.stage), Quantity{.value = time.seconds, .unit = Unit::kSeconds},
                   Quantity{.value = share, .unit = Unit::kPercent}}});
  }
  document->body.emplace_back(std::move(table));
}

void AddTimingsData(const Findings& findings, report::Data* data) {
  data->OpenArray("timings");
  for (const StageTime& time : findings.times) {
    data->OpenObject();
    data->SetText("stage", time.stage);
    data->SetDouble("seconds", time.seconds, Unit::kSeconds);
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
