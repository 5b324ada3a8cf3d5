// SPDX-License-Identifier: Apache-2.0
//
// The graph runtime's last line is what is left when it ends, and counts as no kernel. An eager run
// has no such lines; what is held while each of its operators runs is taken from the events, so
// that both runtimes fill one table.

#include "present/kernels.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/names.h"
#include "steelyard/program.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

std::string_view ModuleOf(const Findings& findings, const KernelMemory& kernel) {
  const Program& program = findings.kernels;
  if (kernel.node >= program.main().nodes.size()) return {};
  return program.text(program.modules[program.main().nodes[kernel.node].module].path);
}

// The last line is no kernel.
std::int64_t CountOf(const GraphRun& run) {
  return static_cast<std::int64_t>(run.kernels.size()) - 1;
}

float PeakMegabytes(const GraphRun& run) {
  float peak = 0;
  for (const KernelMemory& kernel : run.kernels) peak = std::max(peak, kernel.megabytes);
  return peak;
}

// The most that is held while each operator runs by itself.
std::vector<KernelMemory> EagerKernels(const Findings& findings) {
  constexpr float kMegabyte = 1 << 20;
  const Program& program = findings.kernels;
  const std::vector<Event>& events = findings.timeline.events;
  std::vector<KernelMemory> out;
  std::int64_t now = findings.peak.resident;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < program.main().nodes.size(); ++i) {
    std::int64_t most = now;
    for (; next < events.size() && events[next].node == i; ++next) {
      now += events[next].bytes;
      most = std::max(most, now);
    }
    const Node& node = program.main().nodes[i];
    if (program.is_drop(node)) continue;
    out.push_back({std::string(WithoutOverload(program.op_name(node.op))), i, most,
                   static_cast<float>(most) / kMegabyte});
  }
  return out;
}

void AddRow(const Findings& findings, const KernelMemory& kernel, report::Data* data) {
  data->OpenObject();
  data->SetText("kernel", kernel.name);
  data->SetInt("bytes", kernel.bytes, Unit::kBytes);
  data->SetDouble("megabytes", static_cast<double>(kernel.megabytes), Unit::kNone);
  data->SetText("module", ModuleOf(findings, kernel));
  data->Close();
}

}  // namespace

void AppendKernelSummary(const Findings& findings, report::Document* document) {
  if (findings.graph == nullptr) return;
  report::Sentence text{"Compiled into ", Counted(CountOf(*findings.graph), "kernel"),
                        "; in any order they need ",
                        In(Unit::kBytes, findings.graph->bound, Claim::kExact), " or more."};
  if (findings.graph->repeated > 0) {
    text.emplace_back(" Of them ");
    text.emplace_back(Counted(findings.graph->repeated, "kernel"));
    text.emplace_back(findings.graph->repeated == 1 ? " runs again." : " run again.");
  }
  document->body.emplace_back(report::Paragraph{std::move(text), 1});
}

void AppendKernels(const Findings& findings, report::Document* document) {
  report::Table table;
  table.columns = {{.key = "kernel", .header = "Kernels"},
                   NumberColumn("bytes", "held", Unit::kBytes),
                   {.key = "module", .header = "module", .priority = 1}};
  for (const KernelMemory& kernel : findings.graph->kernels) {
    report::Row row;
    row.cells = {kernel.name, In(Unit::kBytes, kernel.bytes), ModuleOf(findings, kernel)};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AddKernelData(const Findings& findings, report::Data* data) {
  if (findings.graph == nullptr) return;
  data->OpenObject("graph");
  data->SetInt("kernels", CountOf(*findings.graph), Unit::kCount);
  data->SetInt("bindings", findings.graph->bindings, Unit::kCount);
  data->SetInt("repeated", findings.graph->repeated, Unit::kCount);
  data->SetInt("bound", findings.graph->bound, Unit::kBytes);
  data->SetInt("left", findings.graph->kernels.back().bytes, Unit::kBytes);
  data->SetDouble("peak_megabytes", static_cast<double>(PeakMegabytes(*findings.graph)),
                  Unit::kNone);
  data->Close();
}

void AddKernelRows(const Findings& findings, report::Data* data) {
  data->OpenArray("kernels");
  if (findings.graph != nullptr) {
    for (const KernelMemory& kernel : findings.graph->kernels) AddRow(findings, kernel, data);
  } else {
    for (const KernelMemory& kernel : EagerKernels(findings)) AddRow(findings, kernel, data);
  }
  data->Close();
}

}  // namespace steelyard::present
