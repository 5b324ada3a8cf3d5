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
#include <utility>
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
using report::Fit;
using report::RenderOptions;
using report::Row;
using report::Span;
using report::Style;
using report::Table;

// A shortened column keeps at least this much, one that is shortened to spare another more.
constexpr std::size_t kNarrowestColumn = 12;
constexpr std::size_t kSparingColumn = 26;

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
  }

  void Write(std::string* out) {
    if (table_.columns.empty()) return;
    const auto width = static_cast<std::size_t>(std::max(options_.width, 0));
    if (width > 0 && !FitTo(width)) return WriteInParts(width, out);
    WriteShown(out);
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

  // The scale of the largest, or of the first where it would be told in too few digits: 342 GFLOP
  // and 1,026 rather than 0.34 TFLOP and 1.03.
  [[nodiscard]] Scale SharedScale(double first, double largest, Unit unit) const {
    constexpr double kFewTimes = 10.0;
    const Scale scale = CommonScale(largest, unit, options_.units);
    const bool is_small = first > 0.0 && first < scale.divisor;
    if (!is_small || largest >= kFewTimes * scale.divisor) return scale;
    return CommonScale(first, unit, options_.units);
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
    const Scale scale = SharedScale(Magnitude(*first), largest, first->unit);
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

  // Gives up, in this order: texts that may be shortened or wrapped, columns that are said to
  // matter less, the alignment with other sections, the middle of texts. Numbers are never cut:
  // false where all that is left does not fit.
  bool FitTo(std::size_t width) {
    while (TotalWidth() > width + Spared() && DropColumns()) {
    }
    SpareOthers(width);
    if (TotalWidth() > width) MeasureColumns(Measured::kHeadersAndCells);
    SpareOthers(width);
    const bool has_parts = row_indent_ > indent_;  // of one name
    ShrinkTo(width, has_parts ? kSparingColumn : kNarrowestColumn);
    return TotalWidth() <= width || !has_parts;
  }

  // Writes some of the columns under the first one, then others, until all are written.
  void WriteInParts(std::size_t width, std::string* out) {
    const std::vector<bool> wanted = shown_;
    std::size_t next = 1;
    for (bool begun = false; next < column_count(); begun = true) {
      shown_.assign(column_count(), false);
      shown_[0] = true;
      MeasureColumns(Measured::kHeadersAndCells);
      widths_[0] = std::min(widths_[0], kSparingColumn);
      std::size_t taken = 0;
      for (; next < column_count(); ++next) {
        if (!wanted[next]) continue;
        shown_[next] = true;
        if (TotalWidth() > width && taken > 0) {
          shown_[next] = false;
          break;
        }
        ++taken;
      }
      if (taken == 0) return;
      ShrinkTo(width, kNarrowestColumn);
      if (TotalWidth() > width) MeasureColumns(Measured::kCells);
      ShrinkTo(width, kNarrowestColumn);
      if (begun) out->push_back('\n');
      WriteShown(out);
    }
  }

  void WriteShown(std::string* out) const {
    if (has_header_) WriteHeader(out);
    for (std::size_t row = 0; row < table_.rows.size(); ++row) WriteRow(row, out);
  }

  [[nodiscard]] std::size_t LastShown() const {
    std::size_t last = column_count() - 1;
    while (last > 0 && !shown_[last]) --last;
    return last;
  }
  // What a column's texts can give so that another one stays.
  [[nodiscard]] std::size_t Spared(std::size_t column) const {
    const Fit fit = table_.columns[column].fit;
    const bool gives = fit == Fit::kCut || (fit == Fit::kWrap && column == LastShown());
    return gives && shown_[column] && widths_[column] > kSparingColumn
               ? widths_[column] - kSparingColumn
               : 0;
  }
  [[nodiscard]] std::size_t Spared() const {
    std::size_t all = 0;
    for (std::size_t column = 0; column < column_count(); ++column) all += Spared(column);
    return all;
  }
  void SpareOthers(std::size_t width) {
    for (std::size_t column = column_count(); column-- > 0;) {
      const std::size_t total = TotalWidth();
      if (total > width) widths_[column] -= std::min(total - width, Spared(column));
    }
  }

  // Cuts texts, but of no column more than down to `narrowest`.
  void ShrinkTo(std::size_t width, std::size_t narrowest) {
    while (TotalWidth() > width && ShrinkColumn(TotalWidth() - width, narrowest)) {
    }
  }

  // Leaves out the columns of the highest priority.
  bool DropColumns() {
    int highest = 0;
    for (std::size_t column = 0; column < column_count(); ++column) {
      if (shown_[column]) highest = std::max(highest, table_.columns[column].priority);
    }
    if (highest == 0) return false;
    for (std::size_t column = 0; column < column_count(); ++column) {
      if (table_.columns[column].priority == highest) shown_[column] = false;
    }
    return true;
  }

  // Takes up to `excess` from the widest column of texts.
  bool ShrinkColumn(std::size_t excess, std::size_t narrowest) {
    std::size_t chosen = column_count();
    for (std::size_t column = 0; column < column_count(); ++column) {
      if (!shown_[column] || table_.columns[column].align == Align::kRight) continue;
      if (chosen == column_count() || widths_[column] > widths_[chosen]) chosen = column;
    }
    if (chosen == column_count() || widths_[chosen] <= narrowest) return false;
    widths_[chosen] -= std::min(excess, widths_[chosen] - narrowest);
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
    const std::size_t last = LastShown();
    for (std::size_t column = 0; column < last; ++column) {
      WriteCell(cell(row, column), column, RowIndent(row), Cut::kMiddle, &line);
    }
    if (last > 0 && table_.columns[last].fit == Fit::kWrap) {
      line.PadTo(line.width() + kGap);
      WriteWrapped(cell(row, last), std::move(line), widths_[last], out);
      return;
    }
    WriteCell(cell(row, last), last, RowIndent(row), Cut::kMiddle, &line);
    line.WriteTo(options_, out);
  }

  // The rest of a row, as wide as its column and as many lines as it takes.
  void WriteWrapped(const Cell& cell, StyledLine line, std::size_t width, std::string* out) const {
    RenderOptions options = options_;
    const std::size_t begin = line.width();
    if (options.width > 0) options.width = static_cast<int>(begin + width);
    WriteSentence({{cell.text, cell.style}}, std::move(line), begin, options, out);
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
