// SPDX-License-Identifier: Apache-2.0
#include "render/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include "quantities.h"
#include "render/utf8.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Align;
using report::Bar;
using report::BarList;
using report::Block;
using report::Chart;
using report::Document;
using report::Headline;
using report::NoteList;
using report::Paragraph;
using report::RenderOptions;
using report::Style;
using report::Table;

template <class... Blocks>
Document DocumentOf(Blocks... blocks) {
  Document document;
  (document.body.push_back(std::move(blocks)), ...);
  return document;
}

std::string Text(const Document& document, const RenderOptions& options = {}) {
  std::string out;
  WriteText(document, options, &out);
  return out;
}

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;

Document Memory() {
  return DocumentOf(Headline{"Memory", {"peak ", Bytes(100 * kMi)}},
                    BarList{{Bar{.label = "parameters",
                                 .amount = Bytes(20 * kMi),
                                 .fraction = 0.2,
                                 .rate = {Bytes(4), "/param"}},
                             Bar{.label = "optimizer",
                                 .amount = Bytes(80 * kMi),
                                 .fraction = 0.8,
                                 .rate = {Bytes(16), "/param"},
                                 .note = {"exp_avg, exp_avg_sq"}},
                             Bar{.label = "outputs", .amount = Bytes(512), .note = {"the loss"}}}});
}

TEST(TextTest, AnEmptyDocumentIsNoText) { EXPECT_EQ(Text(Document{}), ""); }

TEST(TextTest, BarsStandUnderTheirHeadlinesFigures) {
  // The whole is 30 cells long: 0.2 * 30 = 6 and 0.8 * 30 = 24.
  EXPECT_EQ(Text(Memory()),
            "Memory            peak 100.0 MiB\n"
            "  parameters      20.0 MiB  ▕██████▏                    4 B/param\n"
            "  optimizer       80.0 MiB  ▕████████████████████████▏  16 B/param  "
            "exp_avg, exp_avg_sq\n"
            "  outputs            512 B  ▕▏                          the loss\n");
}

TEST(TextTest, BarsHaveAPlainForm) {
  EXPECT_NE(Text(Memory(), {.unicode = false}).find("20.0 MiB  [######]  "), std::string::npos);
}

TEST(TextTest, BarsAreAThirdOfANarrowLine) {
  // 78 / 3 = 26 cells for the whole: 0.2 * 26 = 5.2, to half a cell 5.
  EXPECT_NE(Text(Memory(), {.width = 78}).find("▕█████▏"), std::string::npos);
}

TEST(TextTest, BarsGiveWayToNotes) {
  EXPECT_EQ(Text(Memory(), {.width = 50}),
            "Memory            peak 100.0 MiB\n"
            "  parameters      20.0 MiB  4 B/param\n"
            "  optimizer       80.0 MiB  16 B/param  exp_avg,\n"
            "                            exp_avg_sq\n"
            "  outputs            512 B  the loss\n");
}

TEST(TextTest, BarsRoundToHalfACellAndStayWithinTheWhole) {
  const auto bar = [](double fraction) {
    const std::string text = Text(DocumentOf(BarList{{Bar{.label = "x", .fraction = fraction}}}));
    return text.substr(text.find("▕"));
  };
  EXPECT_EQ(bar(1.5 / 30), "▕█▌▏\n");
  EXPECT_EQ(bar(0.2 / 30), "▕▏\n");
  EXPECT_EQ(bar(7.0), bar(1.0));
  EXPECT_EQ(bar(-1.0), bar(0.0));
  EXPECT_EQ(bar(std::nan("")), bar(0.0));
}

TEST(TextTest, LongLabelsMoveTheFigures) {
  EXPECT_EQ(Text(DocumentOf(BarList{{Bar{.label = "held outputs and more", .amount = Bytes(1)}}})),
            "  held outputs and more  1 B  ▕▏\n");
}

TEST(TextTest, LongTitlesKeepAGap) {
  EXPECT_EQ(Text(DocumentOf(Headline{"BertForSequenceClassification", {"x"}})),
            "BertForSequenceClassification  x\n");
}

TEST(TextTest, SectionsAreSetApart) {
  Table named{.columns = {{.key = "work", .header = "Work"}}};
  named.rows.push_back({.cells = {"x"}});
  Table plain{.columns = {{.key = "name"}}};
  plain.rows.push_back({.cells = {"y"}});
  EXPECT_EQ(
      Text(DocumentOf(Headline{"Model", {"m"}}, Paragraph{{"as it is"}}, Headline{"Memory", {"1"}},
                      Paragraph{{"below"}, 1}, plain, named, Paragraph{{"end"}})),
      "Model             m\n"
      "as it is\n"
      "\n"
      "Memory            1\n"
      "  below\n"
      "y\n"
      "\n"
      "Work\n"
      "  x\n"
      "\n"
      "end\n")
      << "a paragraph on the whole report is not part of the table above it";
}

TEST(TextTest, AChartIsSetApart) {
  Chart chart{.unit = Unit::kBytes};
  chart.series.push_back({.points = {{0, 0}, {1, 512}}});
  EXPECT_TRUE(Text(DocumentOf(Headline{"Memory", {"1"}}, chart))
                  .starts_with("Memory            1\n\n  512 ┤"));
}

TEST(TextTest, NotesSayHowSeriousTheyAre) {
  EXPECT_EQ(Text(DocumentOf(NoteList{{{"assumed tied"}, {"exported on meta"}}},
                            NoteList{{{"3 of 7 operators are not modelled"}}, Style::kWarning})),
            "Note: assumed tied\n"
            "Note: exported on meta\n"
            "Warning: 3 of 7 operators are not modelled\n");
  EXPECT_EQ(Text(DocumentOf(NoteList{{{"no"}}, Style::kWarning}), {.colour = true}),
            "\x1b[33mWarning:\x1b[0m no\n");
}

TEST(TextTest, ExactUnitsReachEveryBlock) {
  const std::string text = Text(Memory(), {.units = UnitStyle::kExact});
  EXPECT_NE(text.find("peak 104,857,600 B"), std::string::npos);  // 100 * 1024 * 1024
  EXPECT_NE(text.find("20,971,520 B"), std::string::npos);        //  20 * 1024 * 1024
}

// A report with one of everything.
Document Everything() {
  Table table{.columns = {{.key = "module", .header = "By module"},
                          {.key = "parameters", .header = "parameters", .align = Align::kRight},
                          {.key = "note", .header = "note", .priority = 1}}};
  table.rows.push_back({.cells = {"bert.encoder.layer.0.attention", Bytes(5), "a long remark"}});
  Chart chart{
      .unit = Unit::kBytes, .series = {{.points = {{0, 1}, {9, 5}}}}, .phases = {{"f", 0, 9}}};
  Document document = Memory();
  document.body.emplace_back(std::move(chart));
  document.body.emplace_back(Paragraph{{"a sentence of several words, ", Bytes(7)}, 2});
  document.body.emplace_back(std::move(table));
  document.body.emplace_back(NoteList{{{"a note that is longer than a line of thirty columns"}}});
  return document;
}

class TextWidthTest : public testing::TestWithParam<int> {};

TEST_P(TextWidthTest, KeepsWithinTheTerminal) {
  for (const bool unicode : {true, false}) {
    std::istringstream lines(Text(Everything(), {.width = GetParam(), .unicode = unicode}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), static_cast<std::size_t>(GetParam())) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, TextWidthTest, testing::Range(44, 130, 3));

TEST(TextTest, ASillyWidthDoesNoHarm) {
  for (const int width : {-5, 1, 2, 10, 20}) {
    EXPECT_NE(Text(Everything(), {.width = width}), "");
  }
}

TEST(TextTest, WithoutUnicodeTheTextIsAscii) {
  const std::string text = Text(Everything(), {.unicode = false});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

}  // namespace
}  // namespace steelyard::render
