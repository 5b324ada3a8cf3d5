// SPDX-License-Identifier: Apache-2.0
//
// A table is laid out from the texts of its cells: measure, leave out columns until the rest fits,
// write. The first column holds the tree; when it has a header, that header is the name of the
// table and the rows are indented below it.
#include "render/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "render/styled_line.h"
#include "render/text_layout.h"
#include "render/utf8.h"
#include "steelyard/report.h"
#include "support/units.h"

namespace steelyard::render {
namespace {

using report::Align;
using report::Column;
using report::Quantity;
using report::RenderOptions;
using report::Row;
using report::Span;
using report::Style;
using report::Table;

// A shortened column keeps at least this much.
constexpr std::size_t kNarrowestColumn = 12;

double Magnitude(const Quantity& quantity) {
  return std::visit([](auto value) { return std::fabs(static_cast<double>(value)); },
                    quantity.value);
}

class TableWriter {
 public:
  TableWriter(const Table& table, const RenderOptions& options) : table_(table), options_(options) {
    for (const Column& column : table.columns) has_header_ |= !column.header.empty();
    const bool named = !table.columns.empty() && !table.columns.front().header.empty();
    indent_ = kIndent * static_cast<std::size_t>(table.level);
    row_indent_ = indent_ + (named ? kIndent : 0);
    LayOutCells();
    widths_.assign(column_count(), 0);
    shown_.assign(column_count(), true);
    MeasureColumns(Measured::kAll);
    if (options.width > 0) FitTo(static_cast<std::size_t>(options.width));
  }

  void Write(std::string* out) const {
    if (table_.columns.empty()) return;
    if (has_header_) WriteHeader(out);
    for (std::size_t row = 0; row < table_.rows.size(); ++row) WriteRow(row, out);
  }

 private:
  // What the width of a column depends on.
  enum class Measured : unsigned char { kAll, kHeadersAndCells, kCells };

  struct Cell {
    std::string text;
    Style style = Style::kPlain;
  };

  [[nodiscard]] std::size_t column_count() const { return table_.columns.size(); }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const {
    return cells_[row * column_count() + column];
  }
  [[nodiscard]] std::size_t RowIndent(std::size_t row) const {
    return row_indent_ + kIndent * static_cast<std::size_t>(table_.rows[row].level);
  }

  void LayOutCells() {
    cells_.resize(table_.rows.size() * column_count());
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const Row& row = table_.rows[i];
      Cell* cells = cells_.data() + i * column_count();
      const std::size_t count = std::min(row.cells.size(), column_count());
      for (std::size_t column = 0; column < count; ++column) {
        const Span& span = row.cells[column];
        cells[column] = {TextOf(span, ClaimForm::kSymbol, options_), span.style};
      }
      if (row.one_scale) ShareScale(row, cells);
    }
  }

  // Rewrites the numbers of `row` that have the unit of its first number in one scale.
  void ShareScale(const Row& row, Cell* cells) const {
    const std::size_t count = std::min(row.cells.size(), column_count());
    const Quantity* first = nullptr;
    double largest = 0.0;
    for (std::size_t column = 0; column < count; ++column) {
      const auto* quantity = std::get_if<Quantity>(&row.cells[column].content);
      if (quantity == nullptr) continue;
      if (first == nullptr) first = quantity;
      if (quantity->unit == first->unit) largest = std::max(largest, Magnitude(*quantity));
    }
    if (first == nullptr) return;
    const Scale scale = CommonScale(largest, first->unit, options_.units);
    for (std::size_t column = 0; column < count; ++column) {
      const auto* quantity = std::get_if<Quantity>(&row.cells[column].content);
      if (quantity == nullptr || quantity->unit != first->unit) continue;
      const std::string_view claim = ClaimPrefix(quantity->claim, ClaimForm::kSymbol);
      cells[column].text = Printable(claim, CharsetOf(options_));
      cells[column].text += std::visit(
          [&](auto value) { return FormatIn(value, scale, quantity->sign); }, quantity->value);
    }
    const std::string word = Printable(scale.Word(), CharsetOf(options_));
    const std::string_view gap = word.empty() || cells[0].text.empty() ? "" : " ";
    cells[0].text.insert(0, gap).insert(0, word);
  }

  void MeasureColumns(Measured what) {
    for (std::size_t column = 0; column < column_count(); ++column) {
      const bool first = column == 0;
      std::size_t width = 0;
      if (what != Measured::kCells || first) {
        width = DisplayWidth(Header(column)) + (first ? indent_ : 0);
      }
      for (std::size_t row = 0; row < table_.rows.size(); ++row) {
        width =
            std::max(width, DisplayWidth(cell(row, column).text) + (first ? RowIndent(row) : 0));
      }
      widths_[column] = width;
    }
    // Figures of a named table begin where those of every section do.
    const bool named = row_indent_ > indent_;
    if (what == Measured::kAll && named && column_count() > 1) {
      widths_[0] = std::max(widths_[0], kFigureColumn - kGap);
    }
  }

  [[nodiscard]] std::size_t TotalWidth() const {
    std::size_t total = 0;
    for (std::size_t column = 0; column < column_count(); ++column) {
      if (shown_[column]) total += widths_[column] + (column > 0 ? kGap : 0);
    }
    return total;
  }

  // Gives up, in this order: columns that are said to matter less, the alignment with other
  // sections, the middle of texts, long headers. Numbers are never cut, so a table may stay wider.
  void FitTo(std::size_t width) {
    while (TotalWidth() > width && DropColumn()) {
    }
    if (TotalWidth() > width) MeasureColumns(Measured::kHeadersAndCells);
    ShrinkTo(width);
    if (TotalWidth() <= width) return;
    MeasureColumns(Measured::kCells);
    ShrinkTo(width);
  }

  void ShrinkTo(std::size_t width) {
    while (TotalWidth() > width && ShrinkColumn(TotalWidth() - width)) {
    }
  }

  // Leaves out the column of the highest priority, of equals the last.
  bool DropColumn() {
    std::size_t chosen = column_count();
    for (std::size_t column = 0; column < column_count(); ++column) {
      const int priority = table_.columns[column].priority;
      if (!shown_[column] || priority == 0) continue;
      if (chosen == column_count() || priority >= table_.columns[chosen].priority) chosen = column;
    }
    if (chosen == column_count()) return false;
    shown_[chosen] = false;
    return true;
  }

  // Takes up to `excess` from the widest column of texts.
  bool ShrinkColumn(std::size_t excess) {
    std::size_t chosen = column_count();
    for (std::size_t column = 0; column < column_count(); ++column) {
      if (!shown_[column] || table_.columns[column].align == Align::kRight) continue;
      if (chosen == column_count() || widths_[column] > widths_[chosen]) chosen = column;
    }
    if (chosen == column_count() || widths_[chosen] <= kNarrowestColumn) return false;
    widths_[chosen] -= std::min(excess, widths_[chosen] - kNarrowestColumn);
    return true;
  }

  [[nodiscard]] std::string Header(std::size_t column) const {
    return Printable(table_.columns[column].header, CharsetOf(options_));
  }

  void WriteHeader(std::string* out) const {
    StyledLine line;
    for (std::size_t column = 0; column < column_count(); ++column) {
      const Cell header{Header(column), column == 0 ? Style::kStrong : Style::kDim};
      WriteCell(header, column, indent_, Cut::kEnd, &line);
    }
    line.WriteTo(options_, out);
  }

  void WriteRow(std::size_t row, std::string* out) const {
    StyledLine line;
    for (std::size_t column = 0; column < column_count(); ++column) {
      WriteCell(cell(row, column), column, RowIndent(row), Cut::kMiddle, &line);
    }
    line.WriteTo(options_, out);
  }

  void WriteCell(const Cell& cell, std::size_t column, std::size_t indent, Cut cut,
                 StyledLine* line) const {
    if (!shown_[column]) return;
    const std::size_t width = widths_[column];
    // A deep tree in a narrow column must leave something of the names.
    const std::size_t used = column == 0 ? std::min(indent, width / 2) : 0;
    if (column > 0) line->PadTo(line->width() + kGap);
    const std::size_t begin = line->width();
    const std::string text = Ellipsize(cell.text, width - used, cut, CharsetOf(options_));
    const bool right = table_.columns[column].align == Align::kRight;
    line->PadTo(begin + (right ? width - DisplayWidth(text) : used));
    line->Add(text, cell.style);
    line->PadTo(begin + width);
  }

  const Table& table_;
  const RenderOptions& options_;
  bool has_header_ = false;
  std::size_t indent_ = 0;      // Of the header.
  std::size_t row_indent_ = 0;  // Of rows of level 0.
  std::vector<Cell> cells_;     // Row by row.
  std::vector<std::size_t> widths_;
  std::vector<bool> shown_;
};

}  // namespace

void WriteTable(const Table& table, const RenderOptions& options, std::string* out) {
  TableWriter(table, options).Write(out);
}

}  // namespace steelyard::render
