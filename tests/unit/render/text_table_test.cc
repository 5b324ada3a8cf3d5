// SPDX-License-Identifier: Apache-2.0
#include "render/text_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Align;
using report::Fit;
using report::RenderOptions;
using report::Table;

std::string Text(const Table& table, const RenderOptions& options = {}) {
  std::string out;
  WriteTable(table, options, &out);
  return out;
}

Quantity QuantityOf(std::int64_t value, Unit unit) { return {.value = value, .unit = unit}; }

// A tree of modules; the share goes before the note when there is little room.
Table Modules() {
  Table table;
  table.columns = {{.key = "module", .header = "By module"},
                   {.key = "parameters", .header = "parameters", .align = Align::kRight},
                   {.key = "share", .align = Align::kRight, .priority = 2},
                   {.key = "note", .priority = 1}};
  const auto count = [](std::int64_t n) { return QuantityOf(n, Unit::kCount); };
  table.rows.push_back({.cells = {"bert", count(108'900'000), Quantity{0.994, Unit::kPercent}}});
  table.rows.push_back(
      {.cells = {"encoder", count(85'100'000), Quantity{0.777, Unit::kPercent}, "12 × BertLayer"},
       .level = 1});
  return table;
}

TEST(TextTableTest, AlignsColumnsAndIndentsTheTree) {
  EXPECT_EQ(Text(Modules()),
            "By module         parameters\n"
            "  bert               108.9 M  99.4 %\n"
            "    encoder           85.1 M  77.7 %  12 × BertLayer\n");
}

TEST(TextTableTest, WithoutHeadersThereIsNoHeaderLine) {
  Table table{.columns = {{.key = "bytes", .align = Align::kRight}, {.key = "name"}}, .level = 2};
  table.rows.push_back({.cells = {QuantityOf(512, Unit::kBytes), "logits"}});
  table.rows.push_back({.cells = {QuantityOf(2048, Unit::kBytes), "loss"}});
  EXPECT_EQ(Text(table),
            "      512 B  logits\n"
            "    2.0 KiB  loss\n");
}

TEST(TextTableTest, DropsColumnsByPriority) {
  // The whole takes 16 + 2 + 10 + 2 + 6 + 2 + 14 = 52 columns, without shares 44, then 28.
  EXPECT_EQ(Text(Modules(), {.width = 51}),
            "By module         parameters\n"
            "  bert               108.9 M\n"
            "    encoder           85.1 M  12 × BertLayer\n");
  EXPECT_EQ(Text(Modules(), {.width = 43}),
            "By module         parameters\n"
            "  bert               108.9 M\n"
            "    encoder           85.1 M\n");
}

TEST(TextTableTest, GivesUpPaddingThenNamesThenHeadersButNoNumber) {
  // Names need 4 + 7 = 11 columns, numbers 7: padding gone 11 + 2 + 10 = 23, header cut 20. Names
  // as short as these are not cut.
  EXPECT_EQ(Text(Modules(), {.width = 23}),
            "By module    parameters\n"
            "  bert          108.9 M\n"
            "    encoder      85.1 M\n");
  EXPECT_EQ(Text(Modules(), {.width = 20}),
            "By module    parame…\n"
            "  bert       108.9 M\n"
            "    encoder   85.1 M\n");
}

TEST(TextTableTest, ShortensLongNamesBeforeHeaders) {
  Table table{.columns = {{.key = "op", .header = "By operator"},
                          {.key = "calls", .header = "calls", .align = Align::kRight}}};
  table.rows.push_back(
      {.cells = {"aten::scaled_dot_product_attention", QuantityOf(12, Unit::kCount)}});
  // 30 columns less 5 for "calls" and 2 for the gap leave 23: 2 of indentation, 10, the mark, 10.
  EXPECT_EQ(Text(table, {.width = 30}),
            "By operator              calls\n"
            "  aten::scal…_attention     12\n");
}

TEST(TextTableTest, ShortensNamesInTheMiddle) {
  Table table{.columns = {{.key = "name"}, {.key = "bytes", .align = Align::kRight}}};
  table.rows.push_back(
      {.cells = {"bert.encoder.layer.11.output.dense", QuantityOf(512, Unit::kBytes)}});
  // 22 columns less 5 for the number and 2 for the gap leave 15: 7, the mark, 7.
  EXPECT_EQ(Text(table, {.width = 22}), "bert.en…t.dense  512 B\n");
  EXPECT_EQ(Text(table, {.width = 22, .unicode = false}), "bert.e..t.dense  512 B\n");
}

TEST(TextTableTest, ASharedScaleIsTheFirstNumbersWhereThatTellsMore) {
  Table table{.columns = {{.key = "work", .header = "Work"},
                          {.key = "forward", .header = "forward", .align = Align::kRight},
                          {.key = "step", .header = "step", .align = Align::kRight}}};
  const auto row = [&](std::int64_t forward, std::int64_t step) {
    table.rows.push_back(
        {.cells = {"", QuantityOf(forward, Unit::kFlops), QuantityOf(step, Unit::kFlops)},
         .one_scale = true});
  };
  row(342'000'000'000, 1'026'000'000'000);
  row(342'000'000'000, 10'260'000'000'000);
  EXPECT_EQ(Text(table),
            "Work              forward    step\n"
            "  GFLOP             342.0  1026.0\n"
            "  TFLOP              0.34   10.26\n");
}

TEST(TextTableTest, TextsThatMayBeCutSpareAColumn) {
  Table table{.columns = {{.key = "tensor", .fit = Fit::kCut},
                          {.key = "bytes", .align = Align::kRight},
                          {.key = "held", .priority = 1}}};
  table.rows.push_back({.cells = {"_log_softmax_backward_data in loss",
                                  QuantityOf(512, Unit::kBytes), "saved by ReluBackward0"}});
  // 34 + 2 + 5 + 2 + 22 = 65 columns; the first text gives 5 of up to 34 - 26 = 8.
  EXPECT_EQ(Text(table, {.width = 60}),
            "_log_softmax_b…d_data in loss  512 B  saved by ReluBackward0\n");
  EXPECT_EQ(Text(table, {.width = 56}), "_log_softmax_backward_data in loss  512 B\n");
}

TEST(TextTableTest, TheLastTextsGoOnBelow) {
  Table table{.columns = {{.key = "peak", .header = "Advice"},
                          {.key = "change", .header = "with", .fit = Fit::kWrap},
                          {.key = "why", .priority = 1, .fit = Fit::kWrap}}};
  table.rows.push_back({.cells = {QuantityOf(512, Unit::kBytes),
                                  "--recompute 'encoder.layer.*' --train sgd", "run again"}});
  EXPECT_EQ(Text(table, {.width = 80}),
            "Advice            with\n"
            "  512 B           --recompute 'encoder.layer.*' --train sgd  run again\n");
  // 18 + 41 + 2 + 9 = 70: what matters less goes, as 26 columns are not left for it.
  EXPECT_EQ(Text(table, {.width = 50}),
            "Advice            with\n"
            "  512 B           --recompute 'encoder.layer.*'\n"
            "                  --train sgd\n");
}

TEST(TextTableTest, NumbersThatDoNotFitFollowInATableOfTheirOwn) {
  Table table{.columns = {{.key = "op", .header = "Counted by"},
                          {.key = "torch", .header = "torch", .align = Align::kRight},
                          {.key = "all", .header = "all", .align = Align::kRight},
                          {.key = "raf", .header = "raf", .align = Align::kRight}}};
  const auto flops = [](std::int64_t n) { return QuantityOf(n, Unit::kFlops); };
  table.rows.push_back({.cells = {"forward", flops(114'000'000'000), flops(114'500'000'000),
                                  flops(114'400'000'000)}});
  // 10 columns of names, 2 and 11 for each number: two of them take 36.
  EXPECT_EQ(Text(table, {.width = 36}),
            "Counted by        torch          all\n"
            "  forward   114.0 GFLOP  114.5 GFLOP\n"
            "\n"
            "Counted by          raf\n"
            "  forward   114.4 GFLOP\n");
}

TEST(TextTableTest, ColumnsOfOnePriorityGoTogether) {
  Table table{
      .columns = {{.key = "op", .header = "Operators"},
                  {.key = "a", .header = "work A", .align = Align::kRight},
                  {.key = "b", .header = "B", .align = Align::kRight},
                  {.key = "calls_a", .header = "calls A", .align = Align::kRight, .priority = 1},
                  {.key = "calls_b", .header = "B", .align = Align::kRight, .priority = 1}}};
  const auto count = [](std::int64_t n) { return QuantityOf(n, Unit::kCount); };
  table.rows.push_back({.cells = {"linear", count(1), count(2), count(3), count(4)}});
  // 16 + 2 + 6 + 2 + 1 + 2 + 7 + 2 + 1 = 39
  EXPECT_EQ(Text(table, {.width = 38}),
            "Operators         work A  B\n"
            "  linear               1  2\n");
}

TEST(TextTableTest, ARowInOneScaleNamesItOnce) {
  Table table{.columns = {{.key = "work", .header = "Work"},
                          {.key = "forward", .header = "forward", .align = Align::kRight},
                          {.key = "optimizer", .header = "optimizer", .align = Align::kRight},
                          {.key = "share", .header = "share", .align = Align::kRight}}};
  table.rows.push_back({.cells = {"", QuantityOf(114'000'000'000, Unit::kFlops),
                                  QuantityOf(0, Unit::kFlops), Quantity{0.5, Unit::kPercent}},
                        .one_scale = true});
  table.rows.push_back({.cells = {"moved",
                                  Quantity{.value = std::int64_t{14'000'000'000},
                                           .unit = Unit::kTraffic,
                                           .claim = Claim::kAtLeast},
                                  QuantityOf(500'000'000, Unit::kTraffic)},
                        .one_scale = true});
  EXPECT_EQ(Text(table),
            "Work              forward  optimizer   share\n"
            "  GFLOP             114.0          0  50.0 %\n"
            "  GB moved        ≥ 14.00       0.50\n");
}

TEST(TextTableTest, ARowInOneScaleIsExactWhereAsked) {
  Table table{.columns = {{.key = "work"}, {.key = "step"}}};
  // One more than 2^53, which a double does not hold.
  table.rows.push_back(
      {.cells = {"", QuantityOf((std::int64_t{1} << 53) + 1, Unit::kFlops)}, .one_scale = true});
  EXPECT_EQ(Text(table, {.units = UnitStyle::kExact}), "FLOP  9,007,199,254,740,993\n");
}

TEST(TextTableTest, ARowInOneScaleMayHaveNoNumbers) {
  Table table{.columns = {{.key = "a"}, {.key = "b"}}};
  table.rows.push_back({.cells = {"x", "y"}, .one_scale = true});
  EXPECT_EQ(Text(table), "x  y\n");
}

TEST(TextTableTest, CellsTooManyOrTooFewDoNoHarm) {
  Table table{.columns = {{.key = "a"}, {.key = "b"}}};
  table.rows.push_back({.cells = {"x"}});
  table.rows.push_back({.cells = {"x", "y", "z"}});
  table.rows.push_back({});
  EXPECT_EQ(Text(table), "x\nx  y\n\n");
  EXPECT_EQ(Text(Table{}), "");
  Table no_columns;
  no_columns.rows.push_back({.cells = {QuantityOf(1, Unit::kBytes)}, .one_scale = true});
  EXPECT_EQ(Text(no_columns), "");
}

TEST(TextTableTest, ADeepTreeKeepsSomethingOfTheNames) {
  Table table{.columns = {{.key = "name"}}};
  table.rows.push_back({.cells = {"attention"}, .level = 20});
  const std::string text = Text(table, {.width = 14});
  // Half of the column is indentation, the other half the name: (7 - 1) / 2 = 3 on both sides.
  EXPECT_EQ(text, "       att…ion\n");
}

TEST(TextTableTest, ControlCharactersDoNotReachTheTerminal) {
  Table table{.columns = {{.key = "name", .header = "\x1b[2J"}}};
  table.rows.push_back({.cells = {"a\x1b]0;title\x07"}});
  EXPECT_EQ(Text(table).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace steelyard::render
