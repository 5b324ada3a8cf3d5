// SPDX-License-Identifier: Apache-2.0
//
// Precedence climbing over the table of infix operators below, which printer and reader share. The
// printer writes the tree as it is, with brackets wherever reading would group otherwise; only a
// sum with a negative term is written as a difference.
#include "ir/text_expression.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text_words.h"

namespace steelyard {
namespace {

// How tightly an operator binds, as in Python.
enum Level { kOr, kAnd, kNot, kRelation, kSum, kProduct, kSign, kPower, kAtom };

struct Infix {
  ExprOp op;
  std::string_view text;
  Level level;
};

constexpr std::array kInfix = {
    Infix{ExprOp::kOr, " or ", kOr},          Infix{ExprOp::kAnd, " and ", kAnd},
    Infix{ExprOp::kEq, " == ", kRelation},    Infix{ExprOp::kNe, " != ", kRelation},
    Infix{ExprOp::kLe, " <= ", kRelation},    Infix{ExprOp::kLt, " < ", kRelation},
    Infix{ExprOp::kAdd, " + ", kSum},         Infix{ExprOp::kMul, "*", kProduct},
    Infix{ExprOp::kFloorDiv, "//", kProduct}, Infix{ExprOp::kTrueDiv, "/", kProduct},
    Infix{ExprOp::kMod, "%", kProduct},       Infix{ExprOp::kPow, "**", kPower},
};

const Infix* InfixOf(ExprOp op) {
  for (const Infix& row : kInfix) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

struct Function {
  ExprOp op;
  std::string_view name;
};

// The select's operands are written condition first, as they stand in the expression.
constexpr std::array kFunctions = {
    Function{ExprOp::kMin, "Min"},
    Function{ExprOp::kMax, "Max"},
    Function{ExprOp::kCeilDiv, "CeilDiv"},
    Function{ExprOp::kSelect, "Where"},
};

const Function* FunctionOf(ExprOp op) {
  for (const Function& row : kFunctions) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

// Expressions share parts, so a small table may be a huge text, or deeper than the stack.
constexpr std::size_t kMaxExpressionText = 1 << 16;
constexpr int kMaxPrintDepth = 1000;

class Writer {
 public:
  Writer(const Program& program, std::string& out)
      : program_(program), out_(out), begin_(out.size()) {}

  void Write(Dim dim, Level least) {
    if (dim.is_number()) {
      const bool bracket = dim.number() < 0 && least > kSign;
      Open(bracket);
      out_.append(std::to_string(dim.number()));
      Close(bracket);
      return;
    }
    const bool broken = dim.is_unknown() || dim.expression() >= program_.expressions.size();
    if (broken || depth_ >= kMaxPrintDepth || out_.size() - begin_ > kMaxExpressionText) {
      out_.push_back('?');
      return;
    }
    ++depth_;
    WriteExpression(program_.expressions.at(dim), least);
    --depth_;
  }

 private:
  void Open(bool bracket) {
    if (bracket) out_.push_back('(');
  }
  void Close(bool bracket) {
    if (bracket) out_.push_back(')');
  }

  void WriteExpression(const Expression& e, Level least) {
    if (IsNegation(e)) {
      Open(kSign < least);
      out_.push_back('-');
      Write(e.b, kPower);
      Close(kSign < least);
    } else if (const Infix* infix = InfixOf(e.op)) {
      Open(infix->level < least);
      WriteInfix(*infix, e);
      Close(infix->level < least);
    } else if (const Function* function = FunctionOf(e.op)) {
      out_.append(function->name).push_back('(');
      Write(e.a, kOr);
      out_.append(", ");
      Write(e.b, kOr);
      if (e.op == ExprOp::kSelect) {
        out_.append(", ");
        Write(e.c, kOr);
      }
      out_.push_back(')');
    } else if (e.op == ExprOp::kNot) {
      Open(kNot < least);
      out_.append("not ");
      Write(e.a, kNot);
      Close(kNot < least);
    } else if (e.op == ExprOp::kConstant) {
      Write(Dim(e.value), least);
    } else {
      WriteSymbol(static_cast<std::size_t>(e.value));
    }
  }

  // "-b". The reader takes the minus into a multiple: -(2*b) would become another expression.
  bool IsNegation(const Expression& e) const {
    if (e.op != ExprOp::kMul || e.a != Dim(-1) || !e.b.is_expression()) return false;
    if (e.b.expression() >= program_.expressions.size()) return false;
    const Expression& negated = program_.expressions.at(e.b);
    return negated.op != ExprOp::kMul || !negated.a.is_number();
  }

  // The operand on the side that groups by itself needs no brackets at its own level.
  void WriteInfix(const Infix& infix, const Expression& e) {
    const bool from_right = infix.level == kPower;
    const bool alone = infix.level == kRelation;
    const auto tighter = static_cast<Level>(infix.level + 1);
    Write(e.a, from_right || alone ? tighter : infix.level);
    if (e.op == ExprOp::kAdd && WriteDifference(e.b)) return;
    out_.append(infix.text);
    Write(e.b, from_right ? infix.level : tighter);
  }

  // "a - b" for the sum of a and a negative number or multiple.
  bool WriteDifference(Dim b) {
    if (b.is_number()) {
      if (b.number() >= 0) return false;
      out_.append(" - ").append(std::to_string(-b.number()));
      return true;
    }
    if (!b.is_expression() || b.expression() >= program_.expressions.size()) return false;
    const Expression& e = program_.expressions.at(b);
    if (e.op != ExprOp::kMul || !e.a.is_number() || e.a.number() >= 0) return false;
    out_.append(" - ");
    if (e.a.number() != -1) out_.append(std::to_string(-e.a.number())).push_back('*');
    Write(e.b, e.a.number() == -1 ? kProduct : kSign);
    return true;
  }

  void WriteSymbol(std::size_t index) {
    if (index >= program_.symbols.size()) {
      out_.push_back('?');
      return;
    }
    const std::string_view name = program_.text(program_.symbols[index].name);
    if (IsPlainWord(name) && !IsExpressionWord(name)) {
      out_.append(name);
    } else {
      out_.push_back('$');
      AppendQuoted(name, out_);
    }
  }

  const Program& program_;
  std::string& out_;
  std::size_t begin_;
  int depth_ = 0;
};

}  // namespace

void AppendDim(const Program& program, Dim dim, std::string& out) {
  Writer(program, out).Write(dim, kOr);
}

std::string DimText(const Program& program, Dim dim) {
  std::string out;
  AppendDim(program, dim, out);
  return out;
}

bool DimReader::Read(Dim& out) {
  std::int64_t number = 0;
  if (scan_.AcceptPlainNumber(number)) {
    out = Dim(number);
    return true;
  }
  if (scan_.Accept('?')) {
    out = Dim::Unknown();
    return true;
  }
  return Or(out);
}

bool DimReader::Or(Dim& out) {
  if (depth_ >= kMaxTextDepth) {
    return scan_.Fail("the expression is nested too deeply",
                      "At most " + std::to_string(kMaxTextDepth) + " brackets may be open.");
  }
  ++depth_;
  bool ok = And(out);
  while (ok && scan_.AcceptWord("or")) {
    Dim right(0);
    ok = And(right);
    out = program_.expressions.Make(ExprOp::kOr, out, right);
  }
  --depth_;
  return ok;
}

bool DimReader::And(Dim& out) {
  if (!Not(out)) return false;
  while (scan_.AcceptWord("and")) {
    Dim right(0);
    if (!Not(right)) return false;
    out = program_.expressions.Make(ExprOp::kAnd, out, right);
  }
  return true;
}

bool DimReader::Not(Dim& out) {
  bool negated = false;
  bool any = false;
  while (scan_.AcceptWord("not")) {
    negated = !negated;
    any = true;
  }
  if (!Relation(out)) return false;
  if (negated) out = program_.expressions.Make(ExprOp::kNot, out);
  if (any && !negated) {
    out = program_.expressions.Make(ExprOp::kNot, program_.expressions.Make(ExprOp::kNot, out));
  }
  return true;
}

bool DimReader::Relation(Dim& out) {
  if (!Sum(out)) return false;
  struct Sign {
    std::string_view text;
    ExprOp op;
    bool swapped;
  };
  constexpr std::array kSigns = {
      Sign{"==", ExprOp::kEq, false}, Sign{"!=", ExprOp::kNe, false},
      Sign{"<=", ExprOp::kLe, false}, Sign{">=", ExprOp::kLe, true},
      Sign{"<", ExprOp::kLt, false},  Sign{">", ExprOp::kLt, true},
  };
  for (const Sign& sign : kSigns) {
    if (!scan_.Accept(sign.text)) continue;
    Dim right(0);
    if (!Sum(right)) return false;
    out = sign.swapped ? program_.expressions.Make(sign.op, right, out)
                       : program_.expressions.Make(sign.op, out, right);
    return true;
  }
  return true;
}

Dim DimReader::Negated(Dim d) {
  ExpressionTable& table = program_.expressions;
  if (d.is_expression()) {
    // By value: Make may move the table.
    const Expression e = table.at(d);
    if (e.op == ExprOp::kMul && e.a.is_number()) {
      return table.Make(ExprOp::kMul, Dim(-e.a.number()), e.b);
    }
  }
  return table.Make(ExprOp::kMul, Dim(-1), d);
}

bool DimReader::Sum(Dim& out) {
  if (!Product(out)) return false;
  while (scan_.Sees("+") || scan_.Sees("-")) {
    const bool minus = scan_.Accept('-');
    if (!minus) scan_.Accept('+');
    Dim right(0);
    if (!Product(right)) return false;
    out = program_.expressions.Make(ExprOp::kAdd, out, minus ? Negated(right) : right);
  }
  return true;
}

bool DimReader::Product(Dim& out) {
  if (!Signed(out)) return false;
  while (true) {
    ExprOp op = ExprOp::kMul;
    if (scan_.Accept('*')) {
      op = ExprOp::kMul;
    } else if (scan_.Accept("//")) {
      op = ExprOp::kFloorDiv;
    } else if (scan_.Accept('/')) {
      op = ExprOp::kTrueDiv;
    } else if (scan_.Accept('%')) {
      op = ExprOp::kMod;
    } else {
      return true;
    }
    Dim right(0);
    if (!Signed(right)) return false;
    out = program_.expressions.Make(op, out, right);
  }
}

bool DimReader::Signed(Dim& out) {
  bool negative = false;
  while (scan_.Accept('-')) negative = !negative;
  if (!Power(out)) return false;
  if (negative) out = Negated(out);
  return true;
}

// Groups from the right: a ** b ** c is a ** (b ** c).
bool DimReader::Power(Dim& out) {
  if (!Atom(out)) return false;
  std::vector<Dim> chain;
  while (scan_.Accept("**")) {
    chain.push_back(out);
    const bool negative = scan_.Accept('-');
    if (!Atom(out)) return false;
    if (negative) out = Negated(out);
  }
  for (; !chain.empty(); chain.pop_back()) {
    out = program_.expressions.Make(ExprOp::kPow, chain.back(), out);
  }
  return true;
}

bool DimReader::Atom(Dim& out) {
  if (scan_.Accept('(')) return Or(out) && scan_.Expect(")", "an expression");
  if (IsDigit(scan_.Peek())) {
    std::int64_t number = 0;
    if (!scan_.Unsigned(INT64_MAX, number)) return false;
    out = Dim(number);
    return true;
  }
  return SymbolOrCall(out);
}

bool DimReader::Call(std::string_view function, Dim& out) {
  for (const Function& row : kFunctions) {
    if (row.name != function) continue;
    Dim a(0);
    Dim b(0);
    Dim c(0);
    bool ok = scan_.Accept('(') && Or(a) && scan_.Expect(",", "an operand") && Or(b);
    if (row.op == ExprOp::kSelect) ok = ok && scan_.Expect(",", "an operand") && Or(c);
    if (!ok || !scan_.Expect(")", "the operands")) return false;
    out = program_.expressions.Make(row.op, a, b, c);
    return true;
  }
  return scan_.Fail("there is no function \"" + std::string(function) + "\"",
                    "Functions of sizes are Min, Max, CeilDiv and Where.");
}

bool DimReader::ReadName(std::string& out) {
  if (scan_.Accept('$')) {
    if (!scan_.String(out)) return false;
    if (out.empty()) return scan_.Fail("a symbol without a name", "Write $\"name\".");
    return true;
  }
  if (IsExpressionWord(scan_.PeekWord())) {
    return scan_.Fail("expected a size or a symbol, " + scan_.Found(),
                      "A symbol of this name is written with a dollar and in quotes.");
  }
  out = scan_.Word();
  if (!out.empty()) return true;
  return scan_.Fail("expected a size, " + scan_.Found(),
                    "A size is a number, a symbol or an expression such as 2*s0 + 1.");
}

bool DimReader::SymbolOrCall(Dim& out) {
  const std::size_t at = scan_.position();
  for (const Function& row : kFunctions) {
    if (!scan_.AcceptWord(row.name)) continue;
    if (!scan_.Sees("(")) return scan_.Expect("(", row.name);
    return Call(row.name, out);
  }
  std::string name;
  if (!ReadName(name)) return false;
  auto known = symbols_.find(program_.strings.Intern(name));
  if (known == symbols_.end()) {
    if (unknown_name_ == UnknownName::kRefuse) {
      return scan_.FailAt(at, "there is no symbol \"" + name + "\"",
                          "Declare it with a line `symbol " + name + "`, or write None, True, " +
                              "False, a dtype such as f32 or a \"string\".");
    }
    Declare(name, Symbol{});
    known = symbols_.find(program_.strings.Intern(name));
  }
  out = known->second;
  return true;
}

bool DimReader::Declare(std::string_view name, Symbol symbol) {
  symbol.name = program_.strings.Intern(name);
  const auto [entry, added] = symbols_.try_emplace(symbol.name, Dim(0));
  if (!added) return false;
  entry->second =
      program_.expressions.MakeSymbol(static_cast<std::uint32_t>(program_.symbols.size()));
  program_.symbols.push_back(symbol);
  return true;
}

}  // namespace steelyard
