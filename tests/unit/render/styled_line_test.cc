// SPDX-License-Identifier: Apache-2.0
#include "render/styled_line.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "quantities.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::RenderOptions;
using report::Sentence;
using report::Style;

std::string Written(const StyledLine& line, const RenderOptions& options = {}) {
  std::string out;
  line.WriteTo(options, &out);
  return out;
}

std::string Wrapped(const Sentence& sentence, int width, std::size_t hanging = 0) {
  std::string out;
  StyledLine first;
  first.PadTo(hanging);
  WriteSentence(sentence, first, hanging, {.width = width}, &out);
  return out;
}

TEST(StyledLineTest, PadsByColumnsNotBytes) {
  StyledLine line;
  line.Add("4×1");
  line.PadTo(5);
  line.Add("|");
  EXPECT_EQ(line.width(), 6U);
  EXPECT_EQ(Written(line), "4×1  |\n");
}

TEST(StyledLineTest, DropsSpacesAtTheEnd) {
  StyledLine line;
  line.Add("a", Style::kStrong);
  line.PadTo(10);
  EXPECT_EQ(Written(line), "a\n");
  EXPECT_EQ(Written(StyledLine()), "\n");
}

TEST(StyledLineTest, ColoursOnlyWhereTold) {
  StyledLine line;
  line.Add("peak ");
  line.Add("2 B", Style::kStrong);
  line.Add("!", Style::kWarning);
  line.Add("?", Style::kDim);
  EXPECT_EQ(Written(line), "peak 2 B!?\n");
  EXPECT_EQ(Written(line, {.colour = true}),
            "peak \x1b[1m2 B\x1b[0m\x1b[33m!\x1b[0m\x1b[2m?\x1b[0m\n");
}

TEST(StyledLineTest, NumbersSayWhenTheyAreNotExact) {
  EXPECT_EQ(TextOf(Bytes(512), ClaimForm::kWords, {}), "512 B");
  EXPECT_EQ(TextOf(Bytes(512, Claim::kAtLeast), ClaimForm::kWords, {}), "at least 512 B");
  EXPECT_EQ(TextOf(Bytes(512, Claim::kEstimated), ClaimForm::kWords, {}), "about 512 B");
  EXPECT_EQ(TextOf(Bytes(512, Claim::kAtLeast), ClaimForm::kSymbol, {}), "≥ 512 B");
  EXPECT_EQ(TextOf(Bytes(512, Claim::kEstimated), ClaimForm::kSymbol, {}), "~ 512 B");
  EXPECT_EQ(TextOf(Bytes(512, Claim::kAtLeast), ClaimForm::kSymbol, {.unicode = false}),
            ">= 512 B");
}

TEST(StyledLineTest, NumbersFollowTheUnitsAskedFor) {
  EXPECT_EQ(TextOf(Bytes(2048), ClaimForm::kWords, {}), "2.0 KiB");
  EXPECT_EQ(TextOf(Bytes(2048), ClaimForm::kWords, {.units = UnitStyle::kExact}), "2,048 B");
}

TEST(StyledLineTest, AnUnlimitedLineIsNeverBroken) {
  const std::string text(500, 'x');
  EXPECT_EQ(Wrapped({text, " ", text}, 0), text + " " + text + "\n");
}

TEST(StyledLineTest, BreaksAtSpacesAndHangs) {
  EXPECT_EQ(Wrapped({"the quick brown fox jumps"}, 20), "the quick brown fox\njumps\n");
  EXPECT_EQ(Wrapped({"the quick brown fox jumps"}, 24, 4), "    the quick brown fox\n    jumps\n");
}

TEST(StyledLineTest, NeverBreaksANumberFromItsUnitOrItsBracket) {
  // "peak is at last (2.0 KiB)" has 25 columns; at 20 the whole of "(2.0 KiB)" goes down.
  EXPECT_EQ(Wrapped({"peak is at last (", Bytes(2048), ")"}, 20), "peak is at last\n(2.0 KiB)\n");
}

TEST(StyledLineTest, NeverBreaksAtANoBreakSpace) {
  // "two inputs labels 4x128" has 23 columns; at 20 the name goes down with its sizes.
  EXPECT_EQ(Wrapped({"two inputs labels\u00a04x128"}, 20), "two inputs\nlabels 4x128\n");
  EXPECT_EQ(Wrapped({"a\u00a0", Bytes(2048), " b"}, 0), "a 2.0 KiB b\n");
}

TEST(StyledLineTest, KeepsWideGapsWithinALine) {
  EXPECT_EQ(Wrapped({"float32   input_ids"}, 40), "float32   input_ids\n");
  EXPECT_EQ(Wrapped({"float32   input_identifiers"}, 20), "float32\ninput_identifiers\n");
}

TEST(StyledLineTest, ShortensAWordWiderThanALine) {
  // Of twenty columns the mark takes one, the head (20 - 1) / 2 = 9, the tail 10.
  EXPECT_EQ(Wrapped({"transformers/models/bert/modeling.py:1"}, 20), "transform…eling.py:1\n");
}

TEST(StyledLineTest, GivesUpHangingWhereItLeavesNoRoom) {
  StyledLine line;
  line.Add("Memory");
  line.PadTo(18);
  std::string out;
  WriteSentence({"the quick brown fox jumps"}, line, 18, {.width = 20}, &out);
  EXPECT_EQ(out, "Memory\n  the quick brown\n  fox jumps\n");
}

TEST(StyledLineTest, MeasuresASentence) {
  EXPECT_EQ(WidthOf({Bytes(4), "/param"}, {}), std::string("4 B/param").size());
}

}  // namespace
}  // namespace steelyard::render
