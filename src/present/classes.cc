// SPDX-License-Identifier: Apache-2.0
//
// Classes come with the most work first, so `top` of them are shown; of the others those with more
// parameters than the first that would be one too many. The rest of a depth is summed in one row,
// so that its rows add up.

#include "present/classes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/classes.h"
#include "analyze/counting.h"
#include "present/findings.h"
#include "present/names.h"
#include "present/work.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;

report::Table EmptyTable(const Convention& convention) {
  report::Table table;
  table.columns = {{.key = "class", .header = "By class"},
                   NumberColumn("modules", "modules", Unit::kCount),
                   NumberColumn("parameters", "parameters", Unit::kCount),
                   NumberColumn("parameter_share", "share", Unit::kPercent),
                   NumberColumn("macs", "MACs", Unit::kMacs, 1),
                   NumberColumn("work", WorkHeader(convention), UnitOf(convention)),
                   NumberColumn("work_share", "share", Unit::kPercent)};
  return table;
}

class ClassWriter {
 public:
  ClassWriter(const Findings& findings, std::size_t top)
      : findings_(findings),
        top_(top),
        unit_(UnitOf(*findings.work.convention)),
        table_(EmptyTable(*findings.work.convention)) {}

  // The classes of one depth, most work first.
  void WriteDepth(std::span<const ClassReport> classes) {
    table_.rows.push_back(
        {.cells = {{fmt::format("depth {}", classes.front().depth), report::Style::kDim}}});
    const std::int64_t least = LeastParametersShown(classes);
    ClassReport rest;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const ClassReport& one = classes[i];
      if (i < top_ || one.parameters > least) {
        AddRow(std::string(ShortClass(findings_.kernels.text(one.class_name))), one);
        continue;
      }
      ++others;
      rest.modules += one.modules;
      rest.parameters += one.parameters;
      rest.work += one.work;
    }
    if (others > 0) AddRow({Counted(others, "other"), report::Style::kDim}, rest);
  }

  report::Table Take() && { return std::move(table_); }

 private:
  // What all but the `top` classes with the most parameters stay at or below.
  std::int64_t LeastParametersShown(std::span<const ClassReport> classes) const {
    if (classes.size() <= top_) return 0;
    std::vector<std::int64_t> parameters;
    parameters.reserve(classes.size());
    for (const ClassReport& one : classes) parameters.push_back(one.parameters);
    std::ranges::sort(parameters, std::greater());
    return parameters[top_];
  }

  void AddRow(report::Span name, const ClassReport& sum) {
    const ModuleReport& all = findings_.modules.front();
    table_.rows.push_back(
        {.cells = {std::move(name), In(Unit::kCount, sum.modules), In(Unit::kCount, sum.parameters),
                   ShareOf(sum.parameters, all.parameters),
                   In(Unit::kMacs, sum.work.macs, findings_.claim()),
                   In(unit_, sum.work.flops, findings_.claim()),
                   ShareOf(sum.work.flops, all.work.flops, findings_.ratio_claim())},
         .level = 1});
  }

  const Findings& findings_;
  const std::size_t top_;
  const Unit unit_;
  report::Table table_;
};

}  // namespace

void AppendClasses(const Findings& findings, const Shown& shown, report::Document* document) {
  if (shown.top <= 0) return;
  ClassWriter writer(findings, static_cast<std::size_t>(shown.top));
  std::span<const ClassReport> rest = findings.classes;
  while (!rest.empty() && rest.front().depth <= shown.depth) {
    const auto after = std::ranges::find_if(
        rest, [&](const ClassReport& one) { return one.depth != rest.front().depth; });
    const auto count = static_cast<std::size_t>(after - rest.begin());
    writer.WriteDepth(rest.first(count));
    rest = rest.subspan(count);
  }
  document->body.emplace_back(std::move(writer).Take());
}

void AddClassData(const Findings& findings, report::Data* data) {
  data->OpenArray("classes");
  for (const ClassReport& one : findings.classes) {
    data->OpenObject();
    data->SetInt("depth", one.depth, Unit::kNone);
    data->SetText("class", findings.kernels.text(one.class_name));
    data->SetInt("modules", one.modules, Unit::kCount);
    data->SetInt("parameters", one.parameters, Unit::kCount);
    data->SetInt("parameter_bytes", one.parameter_bytes, Unit::kBytes);
    SetWork(one.work, UnitOf(*findings.work.convention), data);
    data->SetInt("activation_bytes", one.activation_bytes, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
