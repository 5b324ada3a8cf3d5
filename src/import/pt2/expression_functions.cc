// SPDX-License-Identifier: Apache-2.0
//
// The meanings follow torch/utils/_sympy/functions.py of torch 2.15 and SymPy 1.14. What is left
// out (logarithms, roots, bitwise operations) has no integer meaning here and makes a size
// unknown.
#include "import/pt2/expression_functions.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace steelyard::pt2 {

Dim Maker::Make(ExprOp op, Dim a, Dim b, Dim c) {
  if (a.is_unknown() || b.is_unknown() || c.is_unknown()) return Dim::Unknown();
  return table_.Make(op, a, b, c);
}

Dim Maker::Mul(Dim a, Dim b) {
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  return Make(ExprOp::kMul, a, b);
}

Dim Maker::Add(Dim a, Dim b) {
  if (a == Dim(0)) return b;
  if (b == Dim(0)) return a;
  return Make(ExprOp::kAdd, a, b);
}

Fraction Maker::Mul(Fraction a, Fraction b) { return {Mul(a.num, b.num), Mul(a.den, b.den)}; }

Fraction Maker::Add(Fraction a, Fraction b) {
  if (a.den == b.den) return {Add(a.num, b.num), a.den};
  return {Add(Mul(a.num, b.den), Mul(b.num, a.den)), Mul(a.den, b.den)};
}

Fraction Maker::Divide(Fraction a, Fraction b) { return {Mul(a.num, b.den), Mul(a.den, b.num)}; }

Dim Maker::Round(ExprOp op, Fraction a) { return a.is_integer() ? a.num : Make(op, a.num, a.den); }

// Denominators are positive: they come from sizes.
Dim Maker::Compare(ExprOp op, Fraction a, Fraction b) {
  if (a.den == b.den) return Make(op, a.num, b.num);
  return Make(op, Mul(a.num, b.den), Mul(b.num, a.den));
}

Fraction Negated(Maker& make, Operands args) {
  return {make.Mul(Dim(-1), args[0].num), args[0].den};
}

Fraction Not(Maker& make, Operands args) { return {make.Make(ExprOp::kNot, args[0].num)}; }

namespace {

Fraction Sum(Maker& make, Operands args) {
  Fraction out{Dim(0)};
  for (const Fraction& arg : args) out = make.Add(out, arg);
  return out;
}
Fraction Product(Maker& make, Operands args) {
  Fraction out{Dim(1)};
  for (const Fraction& arg : args) out = make.Mul(out, arg);
  return out;
}
Fraction Quotient(Maker& make, Operands args) { return make.Divide(args[0], args[1]); }
Fraction FloorQuotient(Maker& make, Operands args) {
  return {make.Round(ExprOp::kFloorDiv, make.Divide(args[0], args[1]))};
}
Fraction CeilQuotient(Maker& make, Operands args) {
  return {make.Round(ExprOp::kCeilDiv, make.Divide(args[0], args[1]))};
}
Fraction ExactQuotient(Maker& make, Operands args) {
  return {make.Round(ExprOp::kTrueDiv, make.Divide(args[0], args[1]))};
}
Fraction Floor(Maker& make, Operands args) { return {make.Round(ExprOp::kFloorDiv, args[0])}; }
Fraction Ceil(Maker& make, Operands args) { return {make.Round(ExprOp::kCeilDiv, args[0])}; }
// Halves go up, where Python rounds them to even: a size that depends on it is not known to exist.
Fraction RoundHalf(Maker& make, Operands args) {
  if (args[0].is_integer()) return args[0];
  const Dim twice = make.Add(make.Mul(Dim(2), args[0].num), args[0].den);
  return {make.Make(ExprOp::kFloorDiv, twice, make.Mul(Dim(2), args[0].den))};
}
Fraction Same(Maker&, Operands args) { return args[0]; }
Fraction Modulo(Maker& make, Operands args) {
  if (!args[0].is_integer() || !args[1].is_integer()) return kUnknownFraction;
  return {make.Make(ExprOp::kMod, args[0].num, args[1].num)};
}
// (base // divisor) % modulus
Fraction ModularIndexing(Maker& make, Operands args) {
  const std::array quotient = {FloorQuotient(make, args.first(2)), args[2]};
  return Modulo(make, quotient);
}
Fraction Difference(Maker& make, Operands args) {
  return make.Add(args[0], Negated(make, args.subspan(1)));
}
template <ExprOp kOp>
Fraction Extreme(Maker& make, Operands args) {
  Fraction out = args[0];
  for (const Fraction& arg : args.subspan(1)) {
    const Dim den = out.den == arg.den ? out.den : make.Mul(out.den, arg.den);
    out = {make.Compare(kOp, out, arg), den};
  }
  return out;
}
template <ExprOp kOp>
Fraction Logical(Maker& make, Operands args) {
  Dim out = args[0].num;
  for (const Fraction& arg : args.subspan(1)) out = make.Make(kOp, out, arg.num);
  return {out};
}
template <ExprOp kOp>
Fraction Relation(Maker& make, Operands args) {
  return {make.Compare(kOp, args[0], args[1])};
}
template <ExprOp kOp>
Fraction Reversed(Maker& make, Operands args) {
  return {make.Compare(kOp, args[1], args[0])};
}
Fraction Absolute(Maker& make, Operands args) {
  const std::array both = {args[0], Negated(make, args)};
  return Extreme<ExprOp::kMax>(make, both);
}
Fraction Power(Maker& make, Operands args) {
  const Dim exponent = args[1].num;
  if (!args[1].is_integer()) return kUnknownFraction;
  if (exponent.is_number() && exponent.number() < 0) {
    if (exponent.number() < -64) return kUnknownFraction;
    const std::array inverse = {Fraction{args[0].den, args[0].num},
                                Fraction{Dim(-exponent.number())}};
    return Power(make, inverse);
  }
  if (exponent == Dim(1)) return args[0];
  const Dim den = args[0].is_integer() ? Dim(1) : make.Make(ExprOp::kPow, args[0].den, exponent);
  return {make.Make(ExprOp::kPow, args[0].num, exponent), den};
}
// 2 ^ exponent, by which a shift multiplies or divides.
Fraction ShiftLeft(Maker& make, Operands args) {
  const std::array power = {Fraction{Dim(2)}, args[1]};
  return make.Mul(args[0], Power(make, power));
}
Fraction ShiftRight(Maker& make, Operands args) {
  const std::array power = {Fraction{Dim(2)}, args[1]};
  return {make.Round(ExprOp::kFloorDiv, make.Divide(args[0], Power(make, power)))};
}
Fraction Select(Maker& make, Operands args) {
  if (args[1].den == args[2].den) {
    return {make.Make(ExprOp::kSelect, args[0].num, args[1].num, args[2].num), args[1].den};
  }
  const Dim num = make.Make(ExprOp::kSelect, args[0].num, make.Mul(args[1].num, args[2].den),
                            make.Mul(args[2].num, args[1].den));
  return {num, make.Mul(args[1].den, args[2].den)};
}
// Pairs of a value and its condition, flattened; the last condition is true.
Fraction Piecewise(Maker& make, Operands args) {
  if (args.size() % 2 != 0) return kUnknownFraction;
  Fraction out = args[args.size() - 2];
  for (std::size_t i = args.size() - 2; i >= 2; i -= 2) {
    const std::array branch = {args[i - 1], args[i - 2], out};
    out = Select(make, branch);
  }
  return out;
}

constexpr int kAny = INT32_MAX;

constexpr Function kFunctions[] = {
    {"Integer", 1, 1, Same},
    {"Identity", 1, 1, Same},
    {"ToFloat", 1, 1, Same},
    {"Add", 0, kAny, Sum},
    {"Mul", 0, kAny, Product},
    {"Pow", 2, 2, Power},
    {"PowByNatural", 2, 2, Power},
    {"FloatPow", 2, 2, Power},
    {"Rational", 2, 2, Quotient},
    {"IntTrueDiv", 2, 2, Quotient},
    {"FloatTrueDiv", 2, 2, Quotient},
    {"TrueDiv", 2, 2, Quotient},
    {"FloorDiv", 2, 2, FloorQuotient},
    {"CeilDiv", 2, 2, CeilQuotient},
    {"CleanDiv", 2, 2, ExactQuotient},
    {"floor", 1, 1, Floor},
    {"FloorToInt", 1, 1, Floor},
    {"TruncToInt", 1, 1, Floor},  // sizes are not negative
    {"TruncToFloat", 1, 1, Floor},
    {"Trunc", 1, 1, Floor},
    {"ceiling", 1, 1, Ceil},
    {"CeilToInt", 1, 1, Ceil},
    {"RoundToInt", 1, 1, RoundHalf},
    {"Round", 1, 1, RoundHalf},
    {"Mod", 2, 2, Modulo},
    {"PythonMod", 2, 2, Modulo},
    {"ModularIndexing", 3, 3, ModularIndexing},
    {"Min", 1, kAny, Extreme<ExprOp::kMin>},
    {"Max", 1, kAny, Extreme<ExprOp::kMax>},
    {"Abs", 1, 1, Absolute},
    {"LShift", 2, 2, ShiftLeft},
    {"RShift", 2, 2, ShiftRight},
    {"Where", 3, 3, Select},
    {"Piecewise", 2, kAny, Piecewise},
    {"Eq", 2, 2, Relation<ExprOp::kEq>},
    {"Equality", 2, 2, Relation<ExprOp::kEq>},
    {"Ne", 2, 2, Relation<ExprOp::kNe>},
    {"Unequality", 2, 2, Relation<ExprOp::kNe>},
    {"Lt", 2, 2, Relation<ExprOp::kLt>},
    {"StrictLessThan", 2, 2, Relation<ExprOp::kLt>},
    {"Le", 2, 2, Relation<ExprOp::kLe>},
    {"LessThan", 2, 2, Relation<ExprOp::kLe>},
    {"Gt", 2, 2, Reversed<ExprOp::kLt>},
    {"StrictGreaterThan", 2, 2, Reversed<ExprOp::kLt>},
    {"Ge", 2, 2, Reversed<ExprOp::kLe>},
    {"GreaterThan", 2, 2, Reversed<ExprOp::kLe>},
    {"And", 1, kAny, Logical<ExprOp::kAnd>},
    {"Or", 1, kAny, Logical<ExprOp::kOr>},
    {"Not", 1, 1, Not},
};

// Longer ones before their beginnings.
constexpr Operator kOperators[] = {
    {"**", Operator::kPower, Power},
    {"//", 6, FloorQuotient},
    {"==", 1, Relation<ExprOp::kEq>},
    {"!=", 1, Relation<ExprOp::kNe>},
    {"<<", 4, ShiftLeft},
    {">>", 4, ShiftRight},
    {"<=", 1, Relation<ExprOp::kLe>},
    {">=", 1, Reversed<ExprOp::kLe>},
    {"<", 1, Relation<ExprOp::kLt>},
    {">", 1, Reversed<ExprOp::kLt>},
    {"|", 2, Logical<ExprOp::kOr>},
    {"&", 3, Logical<ExprOp::kAnd>},
    {"+", 5, Sum},
    {"-", 5, Difference},
    {"*", 6, Product},
    {"/", 6, Quotient},
    {"%", 6, Modulo},
};

// Doubles that torch writes into sizes are short: 0.5, 1.25, 2.0. What needs more bits than this
// for its denominator is no scale that a size is exactly computed with.
constexpr int kMaxDenominatorBits = 30;

}  // namespace

const Function* FindFunction(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const Operator* OperatorAt(std::string_view text) {
  for (const Operator& op : kOperators) {
    if (text.starts_with(op.text)) return &op;
  }
  return nullptr;
}

Fraction ExactFraction(double value) {
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  int bits = 0;
  while (bits < 53 && mantissa != std::floor(mantissa)) {
    mantissa *= 2;
    ++bits;
  }
  const int shift = exponent - bits;  // value = mantissa * 2^shift
  if (!std::isfinite(value) || shift < -kMaxDenominatorBits || shift > 8) return kUnknownFraction;
  const auto whole = static_cast<std::int64_t>(mantissa);
  if (shift >= 0) return {Dim(whole * (std::int64_t{1} << shift))};
  return {Dim(whole), Dim(std::int64_t{1} << -shift)};
}

}  // namespace steelyard::pt2
