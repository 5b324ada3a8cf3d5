// SPDX-License-Identifier: Apache-2.0
#include "present/events.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "present/findings.h"
#include "present/names.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
std::string_view ModuleOf(const Program& program, const Event& event) {
  const std::vector<Node>& nodes = program.main().nodes;
  // What the program lets go at its very end happens after its last node.
  if (event.node >= nodes.size()) return {};
  return program.text(program.modules[nodes[event.node].module].path);
}

void AppendEvents(const Findings& findings, report::Document* document) {
  report::Table table;
  table.columns = {{.key = "op", .header = "Events"},
                   NumberColumn("bytes", "bytes", Unit::kBytes),
                   NumberColumn("total", "total", Unit::kBytes),
                   {.key = "module", .header = "module", .priority = 1}};
  std::int64_t total = findings.peak.resident;
  for (const Event& event : findings.timeline.events) {
    total += event.bytes;
    const std::string_view label = findings.timeline.labels.view(event.label);
    report::Row row;
    row.cells = {label.empty() ? "(the program)" : label,
                 Quantity{.value = event.bytes, .unit = Unit::kBytes, .sign = Sign::kAlways},
                 In(Unit::kBytes, total), ModuleOf(findings.kernels, event)};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AddEvents(const Findings& findings, report::Data* data) {
  data->OpenArray("events");
  for (const Event& event : findings.timeline.events) {
    data->OpenArray();
    data->AddText(findings.timeline.labels.view(event.label));
    data->AddInt(event.bytes, Unit::kBytes);
    data->AddText(ModuleOf(findings.kernels, event));
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
