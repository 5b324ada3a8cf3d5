// SPDX-License-Identifier: Apache-2.0
//
// Rows of the tree conserve their sums: what a folded row says is the sum over all it stands for,
// so are the rows inside it, and what a module has besides its children gets a row of its own.
#include "present/modules.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyze/counting.h"
#include "analyze/modules.h"
#include "present/findings.h"
#include "present/module_tree.h"
#include "present/names.h"
#include "present/work.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;
using report::Span;
using report::Style;

// What a row shows.
struct Figures {
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;  // of parameters
  std::int64_t macs = 0;
  std::int64_t flops = 0;
  std::int64_t flops_all = 0;
  std::int64_t moved = 0;       // bytes
  std::int64_t unmodelled = 0;  // calls that are missing in them

  // Traffic alone is worth no row: what every model does between its parts.
  bool IsShown() const { return parameters != 0 || macs != 0 || flops != 0 || unmodelled != 0; }
};

Figures FiguresOf(const ModuleReport& module, std::int64_t times) {
  return {.parameters = times * module.parameters,
          .bytes = times * module.parameter_bytes,
          .macs = times * module.work.macs,
          .flops = times * module.work.flops,
          .flops_all = times * module.work.flops_all,
          .moved = times * Moved(module.work),
          .unmodelled = times * module.unmodelled};
}

Figures Without(const Figures& all, const Figures& part) {
  return {.parameters = all.parameters - part.parameters,
          .bytes = all.bytes - part.bytes,
          .macs = all.macs - part.macs,
          .flops = all.flops - part.flops,
          .flops_all = all.flops_all - part.flops_all,
          .moved = all.moved - part.moved,
          .unmodelled = all.unmodelled - part.unmodelled};
}

// The cells of a row that are no totals.
struct RowWords {
  Span name = "";
  std::string dtypes = {};
  std::string class_name = {};
  std::string repeated = {};  // "12 × BertLayer": what the row stands for, or holds unseen
  Span each = "";             // parameters of one of them
};

bool IsEmpty(const Span& cell) {
  const auto* text = std::get_if<std::string>(&cell.content);
  return text != nullptr && text->empty();
}

// What a program without a graph cannot tell, and what only it tells.
constexpr std::array<std::string_view, 4> kColumnsOfGraphs = {"macs", "work", "work_share",
                                                              "flops_per_byte"};
constexpr std::array<std::string_view, 1> kColumnsOfWeights = {"bytes"};

// Leaves out these columns, and those that say nothing in any row.
void DropColumns(std::span<const std::string_view> keys, report::Table* table) {
  for (std::size_t column = table->columns.size(); column-- > 1;) {
    const auto says_nothing = [&](const Row& row) { return IsEmpty(row.cells[column]); };
    if (std::ranges::find(keys, table->columns[column].key) == keys.end() &&
        !std::ranges::all_of(table->rows, says_nothing)) {
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(column);
    table->columns.erase(table->columns.begin() + at);
    for (Row& row : table->rows) row.cells.erase(row.cells.begin() + at);
  }
}

report::Table EmptyTree(const Convention& convention) {
  report::Table table;
  table.columns = {{.key = "module", .header = "By module"},
                   NumberColumn("parameters", "parameters", Unit::kCount),
                   NumberColumn("parameter_share", "share", Unit::kPercent),
                   NumberColumn("bytes", "bytes", Unit::kBytes),
                   {.key = "dtype", .header = "dtype", .priority = 5},
                   NumberColumn("macs", "MACs", Unit::kMacs, 4),
                   NumberColumn("work", WorkHeader(convention), UnitOf(convention)),
                   NumberColumn("work_share", "share", Unit::kPercent),
                   NumberColumn("flops_per_byte", "intensity", Unit::kFlopsPerByte, 6),
                   {.key = "class", .header = "class", .priority = 3},
                   {.key = "repeated", .header = "repeated", .priority = 1},
                   NumberColumn("each", "each", Unit::kCount, 2)};
  return table;
}

class TreeWriter {
 public:
  TreeWriter(const Findings& findings, const Shown& shown)
      : findings_(findings),
        shown_(shown),
        tree_(findings.kernels, findings.modules),
        mixed_(findings.parameters.by_dtype.size() > 1),
        table_(EmptyTree(*findings.work.convention)) {}

  report::Table Write() && {
    WriteChildren(0, 1, 0);
    if (findings_.kernels.has_graph) {
      DropColumns(kColumnsOfWeights, &table_);
    } else {
      DropColumns(kColumnsOfGraphs, &table_);
    }
    return std::move(table_);
  }

 private:
  std::vector<Repeat> ChildrenOf(std::size_t module) const {
    return shown_.detailed ? tree_.Children(module) : tree_.FoldedChildren(module);
  }

  // `times`: how many modules like this one the rows stand for.
  void WriteChildren(std::size_t module, int times, int level) {
    Figures inside;
    for (const Repeat& child : ChildrenOf(module)) {
      const Figures figures = FiguresOf(report(child.first), std::int64_t{times} * child.count);
      inside.parameters += figures.parameters;
      inside.bytes += figures.bytes;
      inside.macs += figures.macs;
      inside.flops += figures.flops;
      inside.flops_all += figures.flops_all;
      inside.moved += figures.moved;
      inside.unmodelled += figures.unmodelled;
      WriteModule(module, child, times, level, figures);
    }
    const Figures own = Without(FiguresOf(report(module), times), inside);
    if (own.IsShown()) AddRow({.name = {"(itself)", Style::kDim}}, level, own);
  }

  void WriteModule(std::size_t parent, const Repeat& repeat, int times, int level,
                   const Figures& figures) {
    const int count = times * repeat.count;
    const bool open = level + 1 < shown_.depth && tree_.has_children(repeat.first);
    RowWords words{.name = LabelOf(repeat, tree_.path(parent)),
                   .class_name = std::string(tree_.class_name(repeat.first))};
    // Where all parameters are of one dtype, the headline has said so.
    if (mixed_) words.dtypes = fmt::format("{}", fmt::join(report(repeat.first).dtypes, ", "));
    if (count > 1) {
      SetRepeated({repeat.first, repeat.last, count}, &words);
    } else if (!open) {
      SetRepeated(MostRepeated(repeat.first), &words);
    }
    AddRow(std::move(words), level, figures);
    if (open) WriteChildren(repeat.first, count, level + 1);
  }

  // "embeddings", "layer.0–11".
  Span LabelOf(const Repeat& repeat, std::string_view parent) const {
    std::string name(RelativePath(tree_.path(repeat.first), parent));
    if (repeat.count == 1) return name;
    const std::string_view last = tree_.path(repeat.last);
    return name.append("–").append(last.substr(last.rfind('.') + 1));
  }

  // What a module repeats most often among its children.
  Repeat MostRepeated(std::size_t module) const {
    Repeat most;
    for (const Repeat& child : tree_.FoldedChildren(module)) {
      if (child.count > most.count) most = child;
    }
    return most;
  }

  void SetRepeated(const Repeat& repeat, RowWords* words) const {
    if (repeat.count == 1) return;
    const std::string_view class_name = tree_.class_name(repeat.first);
    words->repeated =
        fmt::format("{} ×{}{}", repeat.count, class_name.empty() ? "" : " ", class_name);
    words->each = In(Unit::kCount, report(repeat.first).parameters);
  }

  void AddRow(RowWords words, int level, const Figures& figures) {
    const Figures all = FiguresOf(report(0), 1);
    // Where an operator has no row, its module does at least what the others do.
    const bool exact = figures.unmodelled == 0;
    const Claim claim = exact ? Claim::kExact : Claim::kAtLeast;
    Row row{.cells = {}, .level = level};
    row.cells = {std::move(words.name),
                 In(Unit::kCount, figures.parameters),
                 ShareOf(figures.parameters, all.parameters),
                 In(Unit::kBytes, figures.bytes),
                 std::move(words.dtypes),
                 In(Unit::kMacs, figures.macs, claim),
                 In(UnitOf(*findings_.work.convention), figures.flops, claim),
                 ShareOf(figures.flops, all.flops, findings_.ratio_claim()),
                 Quantity{.value = FractionOf(figures.flops_all, figures.moved),
                          .unit = Unit::kFlopsPerByte,
                          .claim = exact ? Claim::kExact : Claim::kEstimated},
                 std::move(words.class_name),
                 std::move(words.repeated),
                 std::move(words.each)};
    table_.rows.push_back(std::move(row));
  }

  const ModuleReport& report(std::size_t module) const { return findings_.modules[module]; }

  const Findings& findings_;
  const Shown& shown_;
  ModuleTree tree_;
  const bool mixed_;  // whether parameters are of several dtypes
  report::Table table_;
};

}  // namespace

void AppendModules(const Findings& findings, const Shown& shown, report::Document* document) {
  const bool has_children = findings.modules.size() > 1;
  if (!has_children || shown.depth <= 0) return;
  document->body.emplace_back(TreeWriter(findings, shown).Write());
}

void AddModuleData(const Findings& findings, report::Data* data) {
  const Program& program = findings.kernels;
  data->OpenArray("modules");
  for (const ModuleReport& module : findings.modules) {
    const Module& named = program.modules[module.module];
    data->OpenObject();
    data->SetText("path", program.text(named.path));
    data->SetText("class", program.text(named.class_name));
    data->SetInt("depth", module.depth, Unit::kNone);
    data->SetInt("parameters", module.parameters, Unit::kCount);
    data->SetInt("parameter_bytes", module.parameter_bytes, Unit::kBytes);
    data->OpenArray("dtypes");
    for (const std::string_view dtype : module.dtypes) data->AddText(dtype);
    data->Close();
    data->SetInt("buffer_bytes", module.buffer_bytes, Unit::kBytes);
    if (!program.has_graph) {
      data->Close();
      continue;
    }
    data->SetInt("operators", module.calls, Unit::kCount);
    data->SetInt("unmodelled", module.unmodelled, Unit::kCount);
    SetWork(module.work, UnitOf(*findings.work.convention), data);
    data->SetInt("activation_bytes", module.activation_bytes, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
