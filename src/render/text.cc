// SPDX-License-Identifier: Apache-2.0
//
// The text report, block by block. This file decides the order of things on the page: where a
// section begins (an empty line before it), where figures stand, how long bars are.
#include "render/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "render/styled_line.h"
#include "render/text_chart.h"
#include "render/text_layout.h"
#include "render/text_table.h"
#include "render/utf8.h"
#include "steelyard/report.h"

namespace steelyard::render {
namespace {

using report::Bar;
using report::BarList;
using report::Chart;
using report::Headline;
using report::NoteList;
using report::Paragraph;
using report::RenderOptions;
using report::Sentence;
using report::Style;
using report::Table;

// The length of a bar that stands for the whole. On narrow terminals a third of the line.
constexpr std::size_t kFullBar = 30;

// Columns that must be left beside a bar.
constexpr std::size_t kLeastNote = 24;

std::string BarText(double fraction, std::size_t full, Charset charset) {
  // To half a cell: finer blocks look like a second end.
  const double drawn = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const double cells = drawn * static_cast<double>(full);
  if (charset == Charset::kAscii) {
    return "[" + std::string(static_cast<std::size_t>(std::lround(cells)), '#') + "]";
  }
  const auto halves = static_cast<std::size_t>(std::lround(cells * 2));
  std::string text = "▕";
  for (std::size_t i = 0; i < halves / 2; ++i) text += "█";
  if (halves % 2 == 1) text += "▌";
  return text + "▏";
}

class TextWriter {
 public:
  TextWriter(const RenderOptions& options, std::string* out) : options_(options), out_(out) {}

  void operator()(const Headline& headline) {
    StartSection();
    StyledLine line;
    line.Add(Printable(headline.title, CharsetOf(options_)), Style::kStrong);
    line.PadTo(std::max(kFigureColumn, line.width() + kGap));
    WriteSentence(headline.text, std::move(line), kFigureColumn, options_, out_);
  }

  void operator()(const Paragraph& paragraph) {
    const std::size_t indent = kIndent * static_cast<std::size_t>(paragraph.level);
    StyledLine line;
    line.PadTo(indent);
    WriteSentence(paragraph.text, std::move(line), indent, options_, out_);
  }

  void operator()(const BarList& list) {
    std::vector<BarRow> rows;
    BarWidths widths;
    for (const Bar& bar : list.bars) {
      rows.push_back(LayOut(bar));
      const BarRow& row = rows.back();
      widths.label = std::max(widths.label, DisplayWidth(row.label));
      widths.amount = std::max(widths.amount, DisplayWidth(row.amount));
      widths.bar = std::max(widths.bar, DisplayWidth(row.bar));
      widths.rate = std::max(widths.rate, WidthOf(bar.rate, options_));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) WriteBar(list.bars[i], rows[i], widths);
  }

  void operator()(const Chart& chart) {
    StartSection();
    WriteChart(chart, options_, out_);
  }

  void operator()(const Table& table) {
    const bool named = !table.columns.empty() && !table.columns.front().header.empty();
    if (named && table.level == 0) StartSection();
    WriteTable(table, options_, out_);
  }

  void operator()(const NoteList& list) {
    const std::string_view name = list.style == Style::kWarning ? "Warning:" : "Note:";
    for (const Sentence& note : list.notes) {
      StyledLine line;
      line.Add(name, list.style);
      line.PadTo(name.size() + 1);
      WriteSentence(note, std::move(line), kIndent, options_, out_);
    }
  }

  // Keeps what is said about the whole report apart from the rows above it.
  void AfterTable(const report::Block& next) {
    const auto* paragraph = std::get_if<Paragraph>(&next);
    const bool apart =
        std::holds_alternative<NoteList>(next) || (paragraph != nullptr && paragraph->level == 0);
    if (apart) StartSection();
  }

 private:
  struct BarRow {
    std::string label;
    std::string amount;
    std::string bar;
  };
  struct BarWidths {
    std::size_t label = 0;
    std::size_t amount = 0;
    std::size_t bar = 0;
    std::size_t rate = 0;
  };

  [[nodiscard]] BarRow LayOut(const Bar& bar) const {
    const Charset charset = CharsetOf(options_);
    const auto width = static_cast<std::size_t>(std::max(options_.width, 0));
    const std::size_t full = width == 0 ? kFullBar : std::min(kFullBar, width / 3);
    return {.label = Printable(bar.label, charset),
            .amount = TextOf(bar.amount, ClaimForm::kSymbol, options_),
            .bar = BarText(bar.fraction, full, charset)};
  }

  void WriteBar(const Bar& bar, const BarRow& row, const BarWidths& widths) {
    StyledLine line;
    line.PadTo(kIndent);
    line.Add(row.label, bar.style);
    const std::size_t amount_end =
        std::max(kFigureColumn, kIndent + widths.label + kGap) + widths.amount;
    line.PadTo(amount_end - DisplayWidth(row.amount));
    line.Add(row.amount);
    line.PadTo(amount_end + kGap);
    // Where there is no room for both, what a bar says in words is worth more than its length.
    const std::size_t after_bar = amount_end + kGap + widths.bar + kGap;
    const bool drawn =
        options_.width == 0 || after_bar + kLeastNote <= static_cast<std::size_t>(options_.width);
    if (drawn) line.Add(row.bar, bar.style);
    if (bar.rate.empty() && bar.note.empty()) return line.WriteTo(options_, out_);
    if (drawn) line.PadTo(after_bar);
    Sentence rest = bar.rate;
    if (!bar.rate.empty() && !bar.note.empty()) {
      rest.emplace_back(std::string(widths.rate - WidthOf(bar.rate, options_) + kGap, ' '));
    }
    rest.insert(rest.end(), bar.note.begin(), bar.note.end());
    const std::size_t hanging = line.width();
    WriteSentence(rest, std::move(line), hanging, options_, out_);
  }

  // An empty line between a section and what is above it.
  void StartSection() {
    if (!out_->empty()) out_->push_back('\n');
  }

  const RenderOptions& options_;
  std::string* out_;
};

}  // namespace

void WriteText(const report::Document& document, const RenderOptions& options, std::string* out) {
  TextWriter writer(options, out);
  const report::Block* previous = nullptr;
  for (const report::Block& block : document.body) {
    if (previous != nullptr && std::holds_alternative<Table>(*previous)) writer.AfterTable(block);
    std::visit(writer, block);
    previous = &block;
  }
}

}  // namespace steelyard::render
