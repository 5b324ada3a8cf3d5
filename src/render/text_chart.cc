// SPDX-License-Identifier: Apache-2.0
//
// A chart is a grid of rows, each cell an eighth-block character (a third in ASCII), so that four
// rows show 32 levels. It reads points once, whatever their number.
#include "render/text_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "render/styled_line.h"
#include "render/text_layout.h"
#include "render/utf8.h"
#include "steelyard/report.h"
#include "support/units.h"

namespace steelyard::render {
namespace {

using report::Chart;
using report::ChartPhase;
using report::ChartPoint;
using report::ChartSeries;
using report::RenderOptions;
using report::Style;

constexpr std::size_t kRows = 4;
constexpr std::size_t kDefaultColumns = 72;  // Where no width is given.
constexpr std::size_t kLeastColumns = 8;
constexpr std::size_t kMostColumns = 120;
constexpr std::size_t kLeastPhase =
    3;  // A phase of fewer columns is drawn as part of the one before.

// Everything that differs between the charsets. Of a cell's levels the first is empty.
struct Glyphs {
  std::vector<std::string_view> levels;
  std::string_view tick, rule, zero, corner, line, mark;
};

Glyphs GlyphsOf(const RenderOptions& options) {
  if (!options.unicode) return {{" ", ".", ":", "#"}, "+", "|", "+", "+", "-", "+"};
  return {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "┤", "│", "┼", "└", "─", "┴"};
}

// The stretch of x that is drawn.
struct Extent {
  double begin = 0.0;
  double end = 0.0;

  // Where `x` lies among `columns`, not rounded.
  [[nodiscard]] double Column(double x, std::size_t columns) const {
    if (!(end > begin)) return 0.0;
    return (x - begin) / (end - begin) * static_cast<double>(columns);
  }
};

Extent ExtentOf(const Chart& chart) {
  Extent extent;
  bool first = true;
  const auto include = [&](double begin, double end) {
    extent = first ? Extent{begin, end}
                   : Extent{std::min(extent.begin, begin), std::max(extent.end, end)};
    first = false;
  };
  for (const ChartSeries& series : chart.series) {
    if (!series.points.empty()) include(series.points.front().x, series.points.back().x);
  }
  for (const ChartPhase& phase : chart.phases) include(phase.begin, phase.end);
  return extent;
}

std::int64_t LargestValue(const Chart& chart) {
  std::int64_t largest = chart.baseline;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) largest = std::max(largest, point.value);
  }
  return largest;
}

// One column: the largest value that holds anywhere in it, if any does.
struct ColumnValue {
  std::int64_t value = 0;
  std::size_t point = 0;  // which of the series has it
  bool present = false;

  void Include(std::int64_t other, std::size_t at) {
    if (present && other <= value) return;
    value = other;
    point = at;
    present = true;
  }
};

std::vector<ColumnValue> ColumnsOf(const ChartSeries& series, const Extent& extent,
                                   std::size_t count) {
  std::vector<ColumnValue> columns(count);
  const auto column_at = [&](double x) {
    const auto last = static_cast<double>(count - 1);
    return static_cast<std::size_t>(std::clamp(std::floor(extent.Column(x, count)), 0.0, last));
  };
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const ChartPoint& point = series.points[i];
    const double until = i + 1 < series.points.size() ? series.points[i + 1].x : extent.end;
    const std::size_t first = column_at(point.x);
    const double end = std::ceil(extent.Column(until, count));
    columns[first].Include(point.value, i);
    for (std::size_t at = first + 1; at < count && static_cast<double>(at) < end; ++at) {
      columns[at].Include(point.value, i);
    }
  }
  return columns;
}

class ChartWriter {
 public:
  ChartWriter(const Chart& chart, const RenderOptions& options)
      : chart_(chart), options_(options), glyphs_(GlyphsOf(options)), extent_(ExtentOf(chart)) {
    top_ = LargestValue(chart);
    const double magnitude = std::max(std::fabs(static_cast<double>(top_)),
                                      std::fabs(static_cast<double>(chart.baseline)));
    const Scale scale = CommonScale(magnitude, chart.unit, options.units);
    labels_[0] = FormatIn(top_, scale);
    labels_[1] = Printable(scale.Word(), CharsetOf(options));
    labels_[kRows - 1] = FormatIn(chart.baseline, scale);
    for (const std::string& label : labels_) {
      label_width_ = std::max(label_width_, DisplayWidth(label));
    }
    axis_ = kIndent + label_width_ + 1;
    columns_ = kDefaultColumns;
    if (options.width > 0) {
      const auto width = static_cast<std::size_t>(options.width);
      columns_ = std::clamp(width - std::min(width, axis_ + 1), kLeastColumns, kMostColumns);
    }
  }

  void Write(std::string* out) const {
    for (const ChartSeries& series : chart_.series) {
      if (chart_.series.size() > 1) WriteName(series, out);
      WriteRows(ColumnsOf(series, extent_, columns_), out);
      WritePhases(out);
    }
  }

 private:
  void WriteName(const ChartSeries& series, std::string* out) const {
    StyledLine line;
    line.PadTo(axis_);
    line.Add(Printable(series.name, CharsetOf(options_)), Style::kStrong);
    line.WriteTo(options_, out);
  }

  // How many steps high a column is, of all that the rows have together. What is there at all is
  // seen, though it be at the baseline.
  [[nodiscard]] std::size_t StepsOf(const ColumnValue& column) const {
    if (!column.present) return 0;
    const std::size_t steps = kRows * (glyphs_.levels.size() - 1);
    // As doubles: the difference of two int64 may not be one.
    const double range = static_cast<double>(top_) - static_cast<double>(chart_.baseline);
    const double above = static_cast<double>(column.value) - static_cast<double>(chart_.baseline);
    if (!(range > 0) || above <= 0) return 1;
    const double height = std::round(above / range * static_cast<double>(steps));
    return std::max<std::size_t>(1, static_cast<std::size_t>(height));
  }

  // The style of the part that a cell shows, which lies over so many steps: that in its middle, or
  // the topmost where the column ends below.
  [[nodiscard]] Style PartAt(const ColumnValue& column, std::size_t below) const {
    if (chart_.parts.empty()) return Style::kPlain;
    const auto per_row = static_cast<double>(glyphs_.levels.size() - 1);
    const double range = static_cast<double>(top_) - static_cast<double>(chart_.baseline);
    const double share = (static_cast<double>(below) + per_row / 2) / (per_row * kRows);
    const double middle = static_cast<double>(chart_.baseline) + share * range;
    const double seen = std::min(middle, static_cast<double>(column.value));
    double reached = 0;
    Style style = Style::kPlain;
    for (const ChartSeries& part : chart_.parts) {
      const std::int64_t value = part.points[column.point].value;
      if (value == 0) continue;
      style = part.style;
      reached += static_cast<double>(value);
      if (reached >= seen) break;
    }
    return style;
  }

  void WriteRows(const std::vector<ColumnValue>& columns, std::string* out) const {
    const std::size_t per_row = glyphs_.levels.size() - 1;
    for (std::size_t row = 0; row < kRows; ++row) {
      StyledLine line;
      line.PadTo(kIndent + label_width_ - DisplayWidth(labels_[row]));
      line.Add(labels_[row], Style::kDim);
      line.PadTo(axis_);
      line.Add(row == 0           ? glyphs_.tick
               : row + 1 == kRows ? glyphs_.zero
                                  : glyphs_.rule,
               Style::kDim);
      const std::size_t below = (kRows - 1 - row) * per_row;
      for (const ColumnValue& column : columns) {
        const std::size_t steps = StepsOf(column);
        const std::size_t level = std::min(steps - std::min(steps, below), per_row);
        line.Add(glyphs_.levels[level], level == 0 ? Style::kPlain : PartAt(column, below));
      }
      line.WriteTo(options_, out);
    }
  }

  // A mark where each phase begins, its name as far as there is room, and a line up to the next.
  void WritePhases(std::string* out) const {
    if (chart_.phases.empty()) return;
    StyledLine line;
    line.PadTo(axis_);
    line.Add(glyphs_.corner, Style::kDim);
    for (std::size_t i = 0; i < chart_.phases.size(); ++i) {
      const std::size_t begin = PhaseColumn(chart_.phases[i].begin);
      const bool last = i + 1 == chart_.phases.size();
      const std::size_t end = last ? axis_ + 1 + columns_ : PhaseColumn(chart_.phases[i + 1].begin);
      const bool seen = end >= begin + kLeastPhase;
      if (seen && begin == line.width()) line.Add(glyphs_.mark, Style::kDim);
      const std::string label = " " + Printable(chart_.phases[i].label, CharsetOf(options_)) + " ";
      const bool fits = seen && line.width() + DisplayWidth(label) <= end + (last ? 1 : 0);
      if (fits) line.Add(label, Style::kDim);
      DrawLine(end, &line);
    }
    line.WriteTo(options_, out);
  }

  // The column of the line in which a phase begins; the axis for one that begins with the chart.
  [[nodiscard]] std::size_t PhaseColumn(double x) const {
    const double column =
        std::clamp(std::floor(extent_.Column(x, columns_)), 0.0, static_cast<double>(columns_ - 1));
    const auto whole = static_cast<std::size_t>(column);
    return whole == 0 ? axis_ : axis_ + 1 + whole;
  }

  void DrawLine(std::size_t end, StyledLine* line) const {
    while (line->width() < end) line->Add(glyphs_.line, Style::kDim);
  }

  const Chart& chart_;
  const RenderOptions& options_;
  Glyphs glyphs_;
  Extent extent_;
  std::int64_t top_ = 0;
  std::array<std::string, kRows> labels_;  // On the value axis, from the top.
  std::size_t label_width_ = 0;
  std::size_t axis_ = 0;     // The column of the axis line.
  std::size_t columns_ = 0;  // How many columns are drawn.
};

}  // namespace

void WriteChart(const Chart& chart, const RenderOptions& options, std::string* out) {
  ChartWriter(chart, options).Write(out);
}

}  // namespace steelyard::render
