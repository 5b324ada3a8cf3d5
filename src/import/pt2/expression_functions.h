// SPDX-License-Identifier: Apache-2.0
//
// What SymPy's and torch's functions of sizes mean: each name and operator with the expression of
// ours that it makes.
#pragma once

#include <span>
#include <string_view>

#include "steelyard/tables.h"

namespace steelyard::pt2 {

// A value while it is computed: num / den, both integers or integer expressions. Sizes are
// integers, but torch divides on the way to them ("TruncToInt(IntTrueDiv(s0, 2))" after an
// interpolation), so values stay exact until something rounds them.
struct Fraction {
  Dim num = Dim(0);
  Dim den = Dim(1);
  bool is_integer() const { return den == Dim(1); }
};
inline constexpr Fraction kUnknownFraction{Dim::Unknown(), Dim(1)};

using Operands = std::span<const Fraction>;

// Arithmetic that builds expressions. An unknown operand makes an unknown result.
class Maker {
 public:
  explicit Maker(ExpressionTable& table) : table_(table) {}

  Dim Make(ExprOp op, Dim a, Dim b = Dim(0), Dim c = Dim(0));
  Dim Mul(Dim a, Dim b);
  Dim Add(Dim a, Dim b);
  Fraction Mul(Fraction a, Fraction b);
  Fraction Add(Fraction a, Fraction b);
  Fraction Divide(Fraction a, Fraction b);
  // An integer: `op` is kFloorDiv, kCeilDiv or kTrueDiv.
  Dim Round(ExprOp op, Fraction a);
  // `op`, a relation or an extreme, of the numerators over a common denominator.
  Dim Compare(ExprOp op, Fraction a, Fraction b);

 private:
  ExpressionTable& table_;
};

using MakeFn = Fraction (*)(Maker&, Operands);

struct Function {
  std::string_view name;
  int least;  // number of operands
  int most;
  MakeFn make;
};
// The function of that name, or nullptr.
const Function* FindFunction(std::string_view name);

// An operator of the infix form. They bind as Python's do: the higher the level, the tighter.
struct Operator {
  static constexpr int kSign = 7;  // of -x, +x and ~x
  static constexpr int kPower = 8;
  std::string_view text;
  int level;
  MakeFn make;
};
// The operator that `text` begins with, or nullptr.
const Operator* OperatorAt(std::string_view text);

Fraction Negated(Maker& make, Operands args);
Fraction Not(Maker& make, Operands args);

// A double as the fraction it is; unknown if it is not a short one, as scales are.
Fraction ExactFraction(double value);

}  // namespace steelyard::pt2
