// SPDX-License-Identifier: Apache-2.0
#include "render/text_chart.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Chart;
using report::ChartPoint;
using report::RenderOptions;

// Eight columns beside the axis, which takes an indentation of 2, a label of 3, a space and itself.
constexpr int kWidthForEight = 2 + 3 + 1 + 1 + 8;

std::string Text(const Chart& chart, const RenderOptions& options) {
  std::string out;
  WriteChart(chart, options, &out);
  return out;
}

// From 0 to 4 KiB and back, eight steps.
Chart Hill() {
  Chart chart{.unit = Unit::kBytes};
  std::vector<ChartPoint> points;
  std::int64_t x = 0;
  for (const std::int64_t kib : {0, 1, 2, 4, 3, 2, 1, 0}) {
    points.push_back({.x = static_cast<double>(x++), .value = kib * 1024});
  }
  chart.series.push_back({.name = "memory", .points = points});
  chart.phases = {{"fw", 0, 4}, {"bw", 4, 8}};
  return chart;
}

TEST(TextChartTest, DrawsOneRowPerQuarterOfTheRange) {
  EXPECT_EQ(Text(Hill(), {.width = kWidthForEight}),
            "  4.0 ┤   █\n"
            "  KiB │   ██\n"
            "      │  ████\n"
            "    0 ┼▁██████▁\n"
            "      └ fw ┴ bw\n");
}

// Two thirds of the hill are of one part, the rest above them of another.
TEST(TextChartTest, ColoursShowTheParts) {
  Chart chart{.unit = Unit::kBytes};
  chart.series.push_back({.name = "memory", .points = {{0, 3 * 1024}, {1, 3 * 1024}}});
  chart.parts.push_back({.points = {{0, 2 * 1024}, {1, 2 * 1024}}, .style = report::Style::kGreen});
  chart.parts.push_back({.points = {{0, 1024}, {1, 1024}}, .style = report::Style::kRed});
  const std::string text = Text(chart, {.width = kWidthForEight, .colour = true});
  const auto row = [&](std::size_t n) {
    std::size_t at = 0;
    for (; n > 0; --n) at = text.find('\n', at) + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(row(0).find("\x1b[31m"), std::string::npos);  // the upper third is red
  EXPECT_EQ(row(0).find("\x1b[32m"), std::string::npos);
  EXPECT_NE(row(3).find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(row(3).find("\x1b[31m"), std::string::npos);
  EXPECT_EQ(Text(chart, {.width = kWidthForEight}).find('\x1b'), std::string::npos);
}

TEST(TextChartTest, HasAPlainForm) {
  EXPECT_EQ(Text(Hill(), {.width = kWidthForEight, .unicode = false}),
            "  4.0 +   #\n"
            "  KiB |   ##\n"
            "      |  ####\n"
            "    0 +.######.\n"
            "      + fw + bw\n");
}

TEST(TextChartTest, TheBaselineIsTheLowestLevel) {
  Chart chart = Hill();
  chart.baseline = 2048;
  // The range is 4 - 2 = 2 KiB: at 3 KiB half of the rows, at 2 KiB and below the lowest level.
  EXPECT_EQ(Text(chart, {.width = kWidthForEight}),
            "  4.0 ┤   █\n"
            "  KiB │   █\n"
            "      │   ██\n"
            "  2.0 ┼▁▁▁██▁▁▁\n"
            "      └ fw ┴ bw\n");
}

TEST(TextChartTest, NoPeakIsLostHoweverManyPoints) {
  Chart chart{.unit = Unit::kBytes};
  std::vector<ChartPoint> points(10'000, ChartPoint{.x = 0, .value = 0});
  for (std::size_t i = 0; i < points.size(); ++i) points[i].x = static_cast<double>(i);
  points[5'001].value = 4096;  // In column 5001 / 10000 * 8 = 4.
  chart.series.push_back({.points = points});
  EXPECT_EQ(Text(chart, {.width = kWidthForEight}),
            "  4.0 ┤    █\n"
            "  KiB │    █\n"
            "      │    █\n"
            "    0 ┼▁▁▁▁█▁▁▁\n");
}

TEST(TextChartTest, AValueHoldsUntilTheNextPoint) {
  Chart chart{.unit = Unit::kNone};
  chart.series.push_back({.points = {{0, 0}, {2, 4}, {6, 0}, {8, 0}}});
  const std::string text = Text(chart, {.width = 2 + 1 + 1 + 1 + 8});
  // From 2 to 6 of 8; the last column is where the last point stands.
  EXPECT_TRUE(text.starts_with("  4 ┤  ████\n")) << text;
  EXPECT_TRUE(text.ends_with("  0 ┼▁▁████▁▁\n")) << text;
}

TEST(TextChartTest, PointsAtTheSamePlaceAllCount) {
  Chart chart{.unit = Unit::kNone};
  chart.series.push_back({.points = {{0, 0}, {1, 4}, {1, 0}, {8, 0}}});
  const std::string text = Text(chart, {.width = 2 + 1 + 1 + 1 + 8});
  EXPECT_TRUE(text.starts_with("  4 ┤ █\n")) << text;
}

TEST(TextChartTest, APhaseTooNarrowToNameIsPassedOver) {
  Chart chart = Hill();
  chart.phases = {{"forward", 0, 30}, {"loss", 30, 31}, {"backward", 31, 80}};
  for (ChartPoint& point : chart.series.front().points) point.x *= 10;
  // At 40 columns the phases take 15, 1 (30.5 / 80 lies in column 15 as well) and 24.
  const std::string text = Text(chart, {.width = kWidthForEight - 8 + 40});
  EXPECT_TRUE(text.ends_with("└ forward ──────┴ backward ──────────────\n")) << text;
}

TEST(TextChartTest, SeveralSeriesAreNamedAndShareTheScale) {
  Chart chart = Hill();
  chart.phases.clear();
  chart.series.push_back({.name = "other", .points = {{0, 1024}, {7, 1024}}});
  const std::string text = Text(chart, {.width = kWidthForEight});
  EXPECT_NE(text.find("      memory\n  4.0 ┤"), std::string::npos) << text;
  // A quarter of the range of the other one: one row of four.
  EXPECT_NE(text.find("      other\n  4.0 ┤\n  KiB │\n      │\n    0 ┼████████\n"),
            std::string::npos)
      << text;
}

TEST(TextChartTest, NothingToDrawDoesNoHarm) {
  EXPECT_EQ(Text(Chart{}, {}), "");
  Chart chart{.unit = Unit::kBytes};
  chart.series.push_back({});
  EXPECT_EQ(Text(chart, {.width = 1}), "  0 ┤\n  B │\n    │\n  0 ┼\n");
  chart.series.front().points = {{3, 0}};
  EXPECT_TRUE(Text(chart, {.width = 1}).ends_with("  0 ┼▁\n"));
}

TEST(TextChartTest, ExtremeValuesDoNotOverflow) {
  Chart chart{.unit = Unit::kBytes, .baseline = std::numeric_limits<std::int64_t>::min()};
  chart.series.push_back({.points = {{0, std::numeric_limits<std::int64_t>::max()}, {1, 0}}});
  // Zero lies half way: two of the four rows.
  const std::string text = Text(chart, {.width = 40});
  EXPECT_TRUE(text.starts_with("   8.00 ┤█")) << text;
  EXPECT_NE(text.find("  -8.00 ┼█"), std::string::npos) << text;
}

}  // namespace
}  // namespace steelyard::render
