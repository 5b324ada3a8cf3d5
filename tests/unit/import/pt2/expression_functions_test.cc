// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/expression_functions.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace steelyard::pt2 {
namespace {

Dim Call(std::string_view name, std::initializer_list<Fraction> args) {
  ExpressionTable table;
  Maker make(table);
  const Function* function = FindFunction(name);
  if (function == nullptr) return Dim::Unknown();
  const Fraction result = function->make(make, {args.begin(), args.size()});
  return make.Round(ExprOp::kTrueDiv, result);
}

constexpr Fraction Int(std::int64_t value) { return {Dim(value)}; }

TEST(ExpressionFunctions, FindsByExactName) {
  EXPECT_NE(FindFunction("FloorDiv"), nullptr);
  EXPECT_EQ(FindFunction("floordiv"), nullptr);
  EXPECT_EQ(FindFunction(""), nullptr);
}

TEST(ExpressionFunctions, TakesTheLongestOperator) {
  EXPECT_EQ(OperatorAt("**2")->text, "**");
  EXPECT_EQ(OperatorAt("*2")->text, "*");
  EXPECT_EQ(OperatorAt("//2")->text, "//");
  EXPECT_EQ(OperatorAt("<=2")->text, "<=");
  EXPECT_EQ(OperatorAt("x"), nullptr);
  EXPECT_LT(OperatorAt("+")->level, OperatorAt("*")->level);
}

TEST(ExpressionFunctions, FoldsNumbers) {
  EXPECT_EQ(Call("Add", {Int(2), Int(3), Int(4)}), Dim(2 + 3 + 4));
  EXPECT_EQ(Call("Add", {}), Dim(0));
  EXPECT_EQ(Call("Mul", {}), Dim(1));
  EXPECT_EQ(Call("Rational", {Int(6), Int(3)}), Dim(2));
  EXPECT_EQ(Call("Pow", {Int(4), Int(-1)}), Dim(0));  // 1/4, rounded down as a whole size
}

TEST(ExpressionFunctions, PassesTheUnknownOn) {
  EXPECT_TRUE(Call("Add", {Int(2), kUnknownFraction}).is_unknown());
  EXPECT_TRUE(Call("Where", {kUnknownFraction, Int(1), Int(2)}).is_unknown());
  EXPECT_TRUE(Call("Piecewise", {Int(1), Int(1), Int(2)}).is_unknown());
  EXPECT_TRUE(Call("Pow", {Int(2), Int(-1000)}).is_unknown());
}

TEST(ExpressionFunctions, TakesDoublesExactlyOrNotAtAll) {
  const auto fraction = [](double value) { return ExactFraction(value); };
  EXPECT_EQ(fraction(2.0).num, Dim(2));
  EXPECT_EQ(fraction(2.0).den, Dim(1));
  EXPECT_EQ(fraction(-0.75).num, Dim(-3));
  EXPECT_EQ(fraction(-0.75).den, Dim(4));
  EXPECT_EQ(fraction(0.0).num, Dim(0));
  for (const double value : {0.1, 1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(), 1e-300}) {
    EXPECT_TRUE(fraction(value).num.is_unknown()) << value;
  }
}

}  // namespace
}  // namespace steelyard::pt2
