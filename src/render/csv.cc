// SPDX-License-Identifier: Apache-2.0
//
// Cells come from files: what could end a line or move a terminal's cursor is made harmless, so
// that one element of the array is one line.
#include "render/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render/utf8.h"
#include "steelyard/report.h"

namespace steelyard::render {
namespace {

using report::DataKind;
using report::DataView;

void AppendCell(std::string_view text, std::string* out) {
  const std::string shown = Printable(text, Charset::kUnicode);
  const bool plain = shown.find_first_of(",\"") == std::string::npos && !shown.starts_with(' ') &&
                     !shown.ends_with(' ');
  if (plain) {
    out->append(shown);
    return;
  }
  out->push_back('"');
  for (const char c : shown) out->append(c == '"' ? 2 : 1, c);
  out->push_back('"');
}

std::string CellText(DataView value) {
  switch (value.kind()) {
    case DataKind::kInt:
      return fmt::format_int(value.AsInt()).str();
    case DataKind::kDouble:
      return fmt::format("{}", value.AsDouble());
    case DataKind::kText:
      return std::string(value.AsText());
    case DataKind::kBool:
      return value.AsBool() ? "true" : "false";
    case DataKind::kObject:
    case DataKind::kArray:
      break;
  }
  std::string joined;
  for (const DataView child : value) {
    if (!joined.empty()) joined.push_back(' ');
    joined.append(CellText(child));
  }
  return joined;
}

// Calls `visit` with each cell and its column: what is in an object has the names of both.
template <class Visit>
void VisitCells(DataView row, const std::string& prefix, const Visit& visit) {
  for (const DataView cell : row) {
    if (cell.kind() == DataKind::kObject) {
      VisitCells(cell, prefix + std::string(cell.key()) + ".", visit);
    } else if (prefix.empty()) {
      visit(cell.key(), cell);
    } else {
      visit(prefix + std::string(cell.key()), cell);
    }
  }
}

// Rows that are alike, as nearly all are, find their columns where they expect them.
std::size_t PlaceOf(std::string_view column, const std::vector<std::string>& columns,
                    std::size_t expected) {
  if (expected < columns.size() && columns[expected] == column) return expected;
  return static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
}

std::vector<std::string> ColumnsOf(DataView rows) {
  std::vector<std::string> columns;
  for (const DataView row : rows) {
    std::size_t expected = 0;
    VisitCells(row, {}, [&](std::string_view column, DataView) {
      if (PlaceOf(column, columns, expected) == columns.size()) columns.emplace_back(column);
      ++expected;
    });
  }
  return columns;
}

void WriteRow(DataView row, const std::vector<std::string>& columns, std::string* out) {
  std::vector<std::string> cells(columns.size());
  std::size_t expected = 0;
  VisitCells(row, {}, [&](std::string_view column, DataView cell) {
    cells[PlaceOf(column, columns, expected++)] = CellText(cell);
  });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendCell(cells[i], out);
  }
  out->push_back('\n');
}

}  // namespace

void WriteCsv(const report::Document& document, const report::RenderOptions& options,
              std::string* out) {
  const std::optional<DataView> rows = document.data.root().Find(options.table);
  if (!rows || rows->kind() != DataKind::kArray || rows->begin() == rows->end()) return;
  const std::vector<std::string> columns = ColumnsOf(*rows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendCell(columns[i], out);
  }
  out->push_back('\n');
  for (const DataView row : *rows) WriteRow(row, columns, out);
}

}  // namespace steelyard::render
