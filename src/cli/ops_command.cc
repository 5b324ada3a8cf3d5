// SPDX-License-Identifier: Apache-2.0
#include "cli/ops_command.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/report.h"

namespace steelyard::cli {

std::vector<Flag> OpsCommand::Flags() {
  return {{.name = "PATTERN",
           .help = "show only operators whose name or family contains it",
           .field = &pattern_}};
}

Status OpsCommand::Run() {
  report::Table table;
  table.columns = {{.key = "op", .header = "Operator"},
                   {.key = "family", .header = "family", .priority = 1},
                   {.key = "summary", .header = "what it does"}};
  for (const KnownOp& op : KnownOps()) {
    if (op.name.find(pattern_) == std::string_view::npos && op.family != pattern_) continue;
    report::Row row;
    row.cells = {op.name, op.family, op.summary};
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    return Unexpected(NotFound(fmt::format("no modelled operator is called \"{}\"", pattern_), {},
                               "steelyard ops lists all."));
  }
  report::Document document;
  document.body.emplace_back(std::move(table));
  SY_ASSIGN_OR_RETURN(const std::string text,
                      report::Render(document, "text", StandardOutputLook()));
  return WriteOutput(text);
}

}  // namespace steelyard::cli
