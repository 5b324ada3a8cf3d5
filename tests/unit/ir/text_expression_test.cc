// SPDX-License-Identifier: Apache-2.0
#include "ir/text_expression.h"

#include <gtest/gtest.h>

#include <string>

namespace steelyard {
namespace {

// A program with symbols a and b, and sizes read into it.
struct ExpressionProgram {
  Program program;

  Result<Dim> Read(std::string_view text) {
    TextScanner scan(text, "");
    DimReader reader(scan, program);
    program.symbols.clear();
    reader.Declare("a", {});
    reader.Declare("b", {});
    Dim dim(0);
    if (!reader.Read(dim) || !scan.ExpectLineEnd()) return Unexpected(scan.error());
    return dim;
  }
  std::string Reprinted(std::string_view text) {
    const Result<Dim> dim = Read(text);
    return dim ? DimText(program, *dim) : dim.error().message;
  }
  std::optional<std::int64_t> Value(std::string_view text, std::int64_t a, std::int64_t b) {
    const Result<Dim> dim = Read(text);
    if (!dim) return std::nullopt;
    if (dim->is_number()) return dim->number();
    const std::optional<std::int64_t> symbols[] = {a, b};
    return program.expressions.Evaluate(symbols)[dim->expression()];
  }
};

TEST(Expression, IsPrintedAsItIsWritten) {
  ExpressionProgram f;
  for (const char* text : {"a",
                           "30522*a",
                           "a//2",
                           "a + 1",
                           "a - 1",
                           "a - b",
                           "a - 2*b",
                           "-a",
                           "-(a + b)",
                           "-a*b",
                           "a*(b + 1)",
                           "a//(b//2)",
                           "a//b//2",
                           "a*(b*2)",
                           "a%b",
                           "a/2",
                           "a**b",
                           "(a**b)**2",
                           "a**b**2",
                           "(-2)**a",
                           "a*-3",
                           "Max(1, a//2)",
                           "Min(a, Max(b, 3))",
                           "CeilDiv(a, 3)",
                           "Where(a == b, a, 2*b)",
                           "not a < b",
                           "a < b and b <= 5 or a != 1",
                           "(a or b) and a",
                           "(a == b) == b",
                           "?"}) {
    EXPECT_EQ(f.Reprinted(text), text);
  }
}

TEST(Expression, HasPythonsPrecedences) {
  ExpressionProgram f;
  const std::int64_t a = 7;
  const std::int64_t b = 2;
  EXPECT_EQ(f.Value("a + b*3", a, b), a + b * 3);
  EXPECT_EQ(f.Value("-a**b", a, b), -(a * a));
  EXPECT_EQ(f.Value("2**a**0", a, b), 2);
  EXPECT_EQ(f.Value("-a//b", a, b), -4);
  EXPECT_EQ(f.Value("a - b - 1", a, b), a - b - 1);
  EXPECT_EQ(f.Value("a - (b - 1)", a, b), a - (b - 1));
  EXPECT_EQ(f.Value("a > b", a, b), 1);
  EXPECT_EQ(f.Value("a >= 8", a, b), 0);
  EXPECT_EQ(f.Value("not a == b and b < a", a, b), 1);
  EXPECT_EQ(f.Value("Where(a < b, 10, 20)", a, b), 20);
  EXPECT_EQ(f.Value("not not a", a, b), 1);
}

TEST(Expression, OfNumbersIsANumber) {
  ExpressionProgram f;
  EXPECT_EQ(f.Reprinted("(6 - 2)*3 + 5//2"), std::to_string((6 - 2) * 3 + 5 / 2));
  EXPECT_EQ(f.Reprinted("-3"), "-3");
}

TEST(Expression, SymbolsOfOtherNamesAreQuoted) {
  Program program;
  TextScanner scan(R"($"odd name" + $"None")", "");
  DimReader reader(scan, program);
  reader.Declare("odd name", {});
  reader.Declare("None", {});
  Dim dim(0);
  ASSERT_TRUE(reader.Read(dim));
  EXPECT_EQ(DimText(program, dim), R"($"odd name" + $"None")");
  EXPECT_FALSE(reader.Declare("None", {}));
}

TEST(Expression, NamesMustBeDeclaredUnlessTheyDeclare) {
  Program program;
  TextScanner scan("c*d", "");
  DimReader reader(scan, program);
  reader.set_unknown_name(DimReader::UnknownName::kDeclare);
  Dim dim(0);
  ASSERT_TRUE(reader.Read(dim));
  EXPECT_EQ(program.symbols.size(), 2u);
  EXPECT_EQ(DimText(program, dim), "c*d");
}

TEST(Expression, MistakesAreNamed) {
  ExpressionProgram f;
  EXPECT_EQ(f.Reprinted("c"), "there is no symbol \"c\"");
  EXPECT_EQ(f.Reprinted("a +"), "expected a size, found the end of the file");
  EXPECT_EQ(f.Reprinted("(a"), "expected ')' after an expression, found the end of the file");
  EXPECT_EQ(f.Reprinted("Max(a)"), "expected ',' after an operand, found \")\"");
  EXPECT_EQ(f.Reprinted("True"), "expected a size or a symbol, found \"True\"");
  EXPECT_EQ(f.Reprinted("99999999999999999999"), "the number is too large");
}

TEST(Expression, DepthIsLimited) {
  ExpressionProgram f;
  const std::string open(100000, '(');
  EXPECT_EQ(f.Reprinted(open), "the expression is nested too deeply");
  std::string chain = "a";
  for (int i = 0; i < 10000; ++i) chain += "**a";
  EXPECT_TRUE(f.Read(chain).has_value());
  EXPECT_TRUE(f.Read(std::string(100000, '-') + "a").has_value());
}

TEST(Expression, TextOfSharedPartsIsBounded) {
  // 2^60 terms if it were written out.
  Program program;
  program.symbols.push_back({.name = program.strings.Intern("a")});
  Dim dim = program.expressions.MakeSymbol(0);
  for (int i = 0; i < 60; ++i) dim = program.expressions.Make(ExprOp::kAdd, dim, dim);
  EXPECT_LT(DimText(program, dim).size(), std::size_t{1} << 17);
}

}  // namespace
}  // namespace steelyard
