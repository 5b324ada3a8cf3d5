// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/expressions.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

namespace steelyard::pt2 {
namespace {

using testing::HasSubstr;

// What `text` is when the symbols, in the order in which it names them, have these values; nothing
// when it is unknown. Fails the test if the text is refused.
std::optional<std::int64_t> ValueOf(std::string_view text, std::vector<std::int64_t> symbols = {}) {
  Program program;
  ExpressionReader reader(program);
  const Result<Dim> dim = reader.Parse(text);
  EXPECT_TRUE(dim) << Describe(dim.error());
  if (!dim || dim->is_unknown()) return std::nullopt;
  EXPECT_EQ(program.symbols.size(), symbols.size()) << text;
  if (dim->is_number()) return dim->number();
  const std::vector<std::optional<std::int64_t>> values(symbols.begin(), symbols.end());
  return program.expressions.Evaluate(values)[dim->expression()];
}

std::string ExpressionRefusal(const std::string& text) {
  Program program;
  const Result<Dim> dim = ExpressionReader(program).Parse(text);
  return dim ? "" : Describe(dim.error());
}

TEST(Expressions, ReadsConstructors) {
  EXPECT_EQ(ValueOf("Integer(30522)"), 30522);
  EXPECT_EQ(ValueOf("Symbol('s70', positive=True, integer=True)", {5}), 5);
  EXPECT_EQ(ValueOf("Mul(Integer(30522), Symbol('s70', positive=True, integer=True))", {5}),
            30522 * 5);
  EXPECT_EQ(ValueOf("Add(Symbol('s0'), Mul(Integer(-1), Symbol('s1')), Integer(3))", {10, 4}),
            10 - 4 + 3);
  EXPECT_EQ(ValueOf("Pow(Symbol('s0', integer=True), Integer(2))", {7}), 7 * 7);
}

TEST(Expressions, ReadsInfixWithPythonsPrecedence) {
  EXPECT_EQ(ValueOf("16*s0", {3}), 16 * 3);
  EXPECT_EQ(ValueOf("s0*s1 + 4", {3, 5}), 3 * 5 + 4);
  EXPECT_EQ(ValueOf("2 + 3*4 - 1"), 2 + 3 * 4 - 1);
  EXPECT_EQ(ValueOf("20 - 3 - 2"), 20 - 3 - 2);
  EXPECT_EQ(ValueOf("2**3**2"), 512);
  EXPECT_EQ(ValueOf("-2**2"), -4);
  EXPECT_EQ(ValueOf("-(s0 - 10)", {3}), 7);
  EXPECT_EQ(ValueOf("((s0//2))*2", {7}), 6);
  EXPECT_EQ(ValueOf("100 % 7 * 2"), 100 % 7 * 2);
  EXPECT_EQ(ValueOf("1 << 4 | 0"), 1);  // logical, as sympy's Or is
  EXPECT_EQ(ValueOf("(s0 < 4) & (s0 >= 2)", {3}), 1);
  EXPECT_EQ(ValueOf("~(s0 < 4)", {3}), 0);
  EXPECT_EQ(ValueOf("Max(1, s0//2) + Mod(s0, 2)", {9}), 9 / 2 + 1);
}

TEST(Expressions, KnowsTheFunctionsThatTorchPrints) {
  EXPECT_EQ(ValueOf("FloorDiv(Symbol('s0'), Integer(4))", {11}), 11 / 4);
  EXPECT_EQ(ValueOf("CeilDiv(Symbol('s0'), Integer(4))", {11}), 3);
  EXPECT_EQ(ValueOf("CleanDiv(Symbol('s0'), Integer(4))", {12}), 3);
  EXPECT_EQ(ValueOf("Mod(Symbol('s0'), Integer(4))", {11}), 11 % 4);
  EXPECT_EQ(ValueOf("PythonMod(Integer(-1), Symbol('s0'))", {4}), 3);
  EXPECT_EQ(ValueOf("ModularIndexing(Symbol('s0'), Integer(4), Integer(3))", {23}), 23 / 4 % 3);
  EXPECT_EQ(ValueOf("Min(Symbol('s0'), Integer(4), Integer(9))", {11}), 4);
  EXPECT_EQ(ValueOf("Max(Symbol('s0'), Integer(4))", {11}), 11);
  EXPECT_EQ(ValueOf("Abs(Add(Symbol('s0'), Integer(-20)))", {11}), 9);
  EXPECT_EQ(ValueOf("Where(StrictLessThan(Symbol('s0'), Integer(4)), Integer(1), Integer(2))", {5}),
            2);
  EXPECT_EQ(ValueOf("PowByNatural(Symbol('s0'), Integer(3))", {2}), 8);
  EXPECT_EQ(ValueOf("LShift(Symbol('s0'), Integer(3))", {2}), 2 << 3);
  EXPECT_EQ(ValueOf("RShift(Symbol('s0'), Integer(3))", {17}), 17 >> 3);
  EXPECT_EQ(ValueOf("Identity(Symbol('s0'))", {17}), 17);
}

TEST(Expressions, KeepsFractionsUntilTheyAreRounded) {
  EXPECT_EQ(ValueOf("TruncToInt(IntTrueDiv(Symbol('s0'), Integer(2)))", {7}), 7 / 2);
  EXPECT_EQ(ValueOf("TruncToInt(Mul(Float('1.5', precision=53), ToFloat(Symbol('s0'))))", {5}),
            15 / 2);
  EXPECT_EQ(ValueOf("Mul(Rational(1, 2), Symbol('s0'))", {8}), 4);
  EXPECT_EQ(ValueOf("Mul(Symbol('s0'), Pow(Symbol('s1'), Integer(-1)))", {12, 4}), 12 / 4);
  EXPECT_EQ(ValueOf("CeilToInt(IntTrueDiv(Symbol('s0'), Integer(4)))", {9}), 3);
  EXPECT_EQ(ValueOf("RoundToInt(IntTrueDiv(Symbol('s0'), Integer(4)))", {11}), 3);
  EXPECT_EQ(ValueOf("floor(s0/2 + s0/3)", {5}), (5 * 3 + 5 * 2) / 6);
  EXPECT_EQ(ValueOf("ceiling(0.25*s0)", {5}), 2);
  EXPECT_EQ(ValueOf("FloorToInt(Max(s0/2, s0/3))", {5}), 2);
  EXPECT_EQ(ValueOf("s0/2 < 3", {5}), 1);
}

TEST(Expressions, ReadsRelationsAndLogic) {
  EXPECT_EQ(ValueOf("Eq(Mod(s0, 2), 0)", {4}), 1);
  EXPECT_EQ(ValueOf("Equality(Symbol('s0'), Integer(2))", {4}), 0);
  EXPECT_EQ(ValueOf("Unequality(Symbol('s0'), Integer(2))", {4}), 1);
  EXPECT_EQ(ValueOf("Ne(s0, 4)", {4}), 0);
  EXPECT_EQ(ValueOf("LessThan(Symbol('s0'), Integer(4))", {4}), 1);
  EXPECT_EQ(ValueOf("StrictGreaterThan(Symbol('s0'), Integer(4))", {4}), 0);
  EXPECT_EQ(ValueOf("GreaterThan(Symbol('s0'), Integer(4))", {4}), 1);
  EXPECT_EQ(ValueOf("And(Gt(s0, 1), Le(s0, 4), true)", {4}), 1);
  EXPECT_EQ(ValueOf("Or(s0 == 1, s0 != 4, false)", {4}), 0);
  EXPECT_EQ(ValueOf("Not(Eq(s0, 4))", {4}), 0);
  EXPECT_EQ(ValueOf("Piecewise(ExprCondPair(Integer(1), StrictLessThan(Symbol('s0'), Integer(2))), "
                    "ExprCondPair(Integer(5), true))",
                    {3}),
            5);
  EXPECT_EQ(ValueOf("Piecewise((1, s0 < 2), (2, s0 < 4), (3, True))", {3}), 2);
}

TEST(Expressions, LeavesOpenWhatHasNoMeaningForSizes) {
  for (const char* text : {"OpaqueUnaryFn_sqrt(Symbol('s0'))", "Add(Integer(1), Wavelet(s0))",
                           "int_oo", "-oo", "Pow(s0, Rational(1, 2))", "Float('1e300')"}) {
    Program program;
    const Result<Dim> dim = ExpressionReader(program).Parse(text);
    ASSERT_TRUE(dim) << text;
    EXPECT_TRUE(dim->is_unknown()) << text;
  }
}

TEST(Expressions, RefusesWhatIsNoExpression) {
  EXPECT_THAT(ExpressionRefusal(""), HasSubstr("cut short"));
  EXPECT_THAT(ExpressionRefusal("s0 +"), HasSubstr("cut short"));
  EXPECT_THAT(ExpressionRefusal("(s0"), HasSubstr("bracket"));
  EXPECT_THAT(ExpressionRefusal("s0)"), HasSubstr("follows"));
  EXPECT_THAT(ExpressionRefusal("s0 s1"), HasSubstr("follows"));
  EXPECT_THAT(ExpressionRefusal("(1, 2)"), HasSubstr("follows"));
  EXPECT_THAT(ExpressionRefusal("Symbol(s0)"), HasSubstr("quoted"));
  EXPECT_THAT(ExpressionRefusal("Symbol('s0"), HasSubstr("quoted"));
  EXPECT_THAT(ExpressionRefusal("Symbol('')"), HasSubstr("no name"));
  EXPECT_THAT(ExpressionRefusal("Float('x')"), HasSubstr("no number"));
  EXPECT_THAT(ExpressionRefusal("FloorDiv(s0)"), HasSubstr("operands"));
  EXPECT_THAT(ExpressionRefusal("Min()"), HasSubstr("operands"));
  EXPECT_THAT(ExpressionRefusal("\"s0\""), HasSubstr("character"));
}

TEST(Expressions, BoundsDepthAndLength) {
  EXPECT_THAT(ExpressionRefusal(std::string(50'000, '(')), HasSubstr("too deeply"));
  EXPECT_THAT(ExpressionRefusal(std::string(50'000, '-') + "1"), HasSubstr("too deeply"));
  std::string powers = "2";
  for (int i = 0; i < 10'000; ++i) powers += "**1";
  EXPECT_THAT(ExpressionRefusal(powers), HasSubstr("too deeply"));
  EXPECT_THAT(ExpressionRefusal(std::string(70'000, '1')), HasSubstr("64 KiB"));
  std::string sum = "s0";
  for (int i = 0; i < 10'000; ++i) sum += "+ s0";
  EXPECT_EQ(ValueOf(sum, {1}), 10'001);
}

TEST(Expressions, TurnsImpossibleNumbersIntoNoValue) {
  EXPECT_EQ(ValueOf("FloorDiv(Symbol('s0'), Integer(0))", {4}), std::nullopt);
  EXPECT_EQ(ValueOf("9223372036854775807 * s0", {4}), std::nullopt);
  EXPECT_EQ(ValueOf("4 ** s0", {100}), std::nullopt);
}

TEST(Expressions, GivesSymbolsTheirExamples) {
  Program program;
  ExpressionReader reader(program);
  const Dim alone = reader.Parse("s0").value();
  const Dim even = reader.Parse("2*s1").value();
  const Dim both = reader.Parse("s0*s2 + 1").value();
  const Dim unsolvable = reader.Parse("s3 % 2").value();
  reader.AddHint(both, 3 * 5 + 1);
  reader.AddHint(even, 14);
  reader.AddHint(unsolvable, 1);
  reader.AddHint(alone, 3);
  reader.SetExamples();
  ASSERT_EQ(program.symbols.size(), 4u);
  EXPECT_EQ(program.symbols[0].example, 3);
  EXPECT_EQ(program.symbols[1].example, 7);
  EXPECT_EQ(program.symbols[2].example, 5);
  // 1 comes out, though 3 would as well: any value that fits the hint is an example.
  EXPECT_EQ(program.symbols[3].example, 1);
}

TEST(Expressions, LeavesOutExamplesThatDoNotFit) {
  Program program;
  ExpressionReader reader(program);
  reader.AddHint(reader.Parse("2*s0").value(), 7);
  reader.AddHint(reader.Parse("s1*s2").value(), 12);
  reader.SetExamples();
  for (const Symbol& symbol : program.symbols) EXPECT_EQ(symbol.example, -1);
}

}  // namespace
}  // namespace steelyard::pt2
