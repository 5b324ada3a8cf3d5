// SPDX-License-Identifier: Apache-2.0
#include "ir/text_scanner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace steelyard {
namespace {

TEST(TextScanner, SkipsBlanksAndCommentsWithinALine) {
  TextScanner scan(" \t a # rest\nb", "");
  EXPECT_EQ(scan.Word(), "a");
  EXPECT_EQ(scan.Peek(), '\n');
  EXPECT_TRUE(scan.ExpectLineEnd());
  EXPECT_TRUE(scan.NextStatement());
  EXPECT_EQ(scan.Word(), "b");
  EXPECT_FALSE(scan.NextStatement());
}

TEST(TextScanner, LinesGoOnWithinBrackets) {
  TextScanner scan("( # open\n [ \n a ] )\nb", "");
  EXPECT_TRUE(scan.Accept("("));
  EXPECT_TRUE(scan.Accept("["));
  EXPECT_EQ(scan.Word(), "a");
  EXPECT_TRUE(scan.Accept("]"));
  EXPECT_TRUE(scan.Accept(")"));
  EXPECT_EQ(scan.Peek(), '\n');
}

TEST(TextScanner, WordsArePathsOrOperators) {
  TextScanner scan("in encoder.0 aten::add.Tensor inner", "");
  EXPECT_FALSE(scan.AcceptWord("i"));
  EXPECT_TRUE(scan.AcceptWord("in"));
  EXPECT_EQ(scan.Path(), "encoder.0");
  EXPECT_EQ(scan.OpName(), "aten::add.Tensor");
  EXPECT_FALSE(scan.AcceptWord("in"));
}

TEST(TextScanner, TellsRealNumbersFromWholeOnes) {
  const auto sees_real = [](std::string_view text) { return TextScanner(text, "").SeesReal(); };
  for (const char* text : {"1.0", "-0.5", "1e5", "1e-05", "2.", "inf", "-inf", "nan"}) {
    EXPECT_TRUE(sees_real(text)) << text;
  }
  for (const char* text : {"1", "-3", "1..2", "info", "nano", "-s", "e5", ""}) {
    EXPECT_FALSE(sees_real(text)) << text;
  }
}

TEST(TextScanner, ReadsNumbersToTheirLimits) {
  double real = 0.0;
  EXPECT_TRUE(TextScanner("-1.5e-3,", "").Real(real));
  EXPECT_EQ(real, -1.5e-3);
  EXPECT_FALSE(TextScanner("1e999", "").Real(real));
  std::int64_t number = 0;
  EXPECT_TRUE(TextScanner("9223372036854775807", "").Unsigned(INT64_MAX, number));
  EXPECT_EQ(number, INT64_MAX);
  EXPECT_FALSE(TextScanner("9223372036854775808", "").Unsigned(INT64_MAX, number));
  EXPECT_FALSE(TextScanner("11", "").Unsigned(10, number));
}

TEST(TextScanner, ReadsStringsWithEscapes) {
  std::string text;
  EXPECT_TRUE(TextScanner(R"("a\"\\\n\t\x41")", "").String(text));
  EXPECT_EQ(text, "a\"\\\n\tA");
  EXPECT_FALSE(TextScanner(R"("\q")", "").String(text));
  EXPECT_FALSE(TextScanner("\"open\n\"", "").String(text));
}

TEST(TextScanner, AnErrorShowsItsPlace) {
  TextScanner scan("first\n  second line", "model.txt");
  scan.Word();
  scan.NextStatement();
  scan.Word();
  EXPECT_FALSE(scan.Fail("expected '=', " + scan.Found(), "Write one."));
  EXPECT_EQ(scan.error().where, "model.txt:2:10");
  EXPECT_EQ(scan.error().message, "expected '=', found \"line\"");
  EXPECT_EQ(scan.error().hint, "Write one.\n    second line\n           ^");
}

TEST(TextScanner, TheFirstErrorStays) {
  TextScanner scan("a", "");
  scan.Fail("one", "");
  scan.Fail("two", "");
  EXPECT_EQ(scan.error().message, "one");
}

TEST(TextScanner, LongLinesAreShownInPart) {
  const std::string line = std::string(1000, 'x') + " !" + std::string(1000, 'y');
  TextScanner scan(line, "");
  scan.Word();
  scan.Fail("no", "");
  EXPECT_LT(scan.error().hint.size(), 300u);
}

TEST(TextScanner, PlainNumbersEndWithTheirPlaceInAList) {
  std::int64_t number = 0;
  for (const auto& [text, expected] :
       {std::pair{"12,", 12}, {" -1)", -1}, {"0]", 0}, {"-7}", -7}}) {
    TextScanner scan(text, "");
    EXPECT_TRUE(scan.AcceptPlainNumber(number)) << text;
    EXPECT_EQ(number, expected);
  }
  // Expressions, symbols and what is not a number; what no Dim can hold is for others to refuse.
  for (const char* text : {"12*s", "-s)", "-)", "x]", "1", "-9223372036854775808)"}) {
    TextScanner scan(text, "");
    EXPECT_FALSE(scan.AcceptPlainNumber(number)) << text;
    EXPECT_EQ(scan.position(), 0u);
  }
}

TEST(TextScanner, BracketsAreCountedAsCharactersToo) {
  TextScanner scan("(\n1)\n2", "");
  EXPECT_TRUE(scan.Accept('('));
  EXPECT_TRUE(scan.Accept('1')) << "a newline within brackets is a blank";
  EXPECT_TRUE(scan.Accept(')'));
  EXPECT_FALSE(scan.Accept('2')) << "outside it is not";
}

}  // namespace
}  // namespace steelyard
