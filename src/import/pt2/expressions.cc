// SPDX-License-Identifier: Apache-2.0
//
// A parser of precedence climbing over both forms at once, and the example values of symbols.
// Nothing is evaluated: the outcome is an expression of the program over its symbols.
#include "import/pt2/expressions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "import/json.h"
#include "import/pt2/expression_functions.h"
#include "support/checked.h"

namespace steelyard::pt2 {
namespace {

struct Constant {
  std::string_view name;
  Dim value;
};
// A range constraint may be infinite; a size that is has no value.
constexpr Constant kConstants[] = {
    {"true", Dim(1)},
    {"True", Dim(1)},
    {"false", Dim(0)},
    {"False", Dim(0)},
    {"oo", Dim::Unknown()},
    {"int_oo", Dim::Unknown()},
    {"inf", Dim::Unknown()},
    {"nan", Dim::Unknown()},
    {"zoo", Dim::Unknown()},
    {"pi", Dim::Unknown()},
    {"E", Dim::Unknown()},
    {"I", Dim::Unknown()},
    {"NegativeInfinity", Dim::Unknown()},
};

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c) || c == '.'; }

// The non-negative x at which a line has the value `wanted`, rounded down, from its values at 1 and
// at 2.
std::optional<std::int64_t> SolveLine(std::int64_t at_one, std::int64_t at_two,
                                      std::int64_t wanted) {
  const auto slope = CheckedSub(at_two, at_one);
  const auto rise = CheckedSub(wanted, at_one);
  if (!slope || !rise) return std::nullopt;
  const auto steps = Apply(ExprOp::kFloorDiv, *rise, *slope, 0);
  if (!steps || *steps < -1 || *steps == INT64_MAX) return std::nullopt;
  return *steps + 1;
}

}  // namespace

// One text. Every function returns false when the text is malformed and says why in `problem_`.
class ExpressionParser {
 public:
  ExpressionParser(ExpressionReader& reader, std::string_view text)
      : reader_(reader), make_(reader.program_.expressions), text_(text) {}

  bool Parse(Fraction& out) {
    if (!Binary(0, out)) return false;
    Skip();
    return (at_ == text_.size() && operands_.empty()) ||
           Problem("something follows the expression");
  }
  const char* problem() const { return problem_; }

 private:
  bool Problem(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
    return false;
  }
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Accept(std::string_view token) {
    Skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool Expect(char c) { return Accept({&c, 1}) || Problem("a bracket is missing"); }

  const Operator* PeekOperator() {
    Skip();
    return OperatorAt(text_.substr(at_));
  }

  // An operand and what follows it in operators of at least `level`.
  bool Binary(int level, Fraction& out) {
    if (++depth_ > ExpressionReader::kMaxDepth) return Problem("it is nested too deeply");
    if (!Unary(out)) return false;
    for (const Operator* op = PeekOperator(); op != nullptr && op->level >= level;
         op = PeekOperator()) {
      at_ += op->text.size();
      Fraction right;
      // Powers group to the right, all others to the left.
      if (!Binary(op->level == Operator::kPower ? op->level : op->level + 1, right)) return false;
      const std::array both = {out, right};
      out = op->make(make_, both);
    }
    --depth_;
    return true;
  }

  bool Unary(Fraction& out) {
    const bool minus = Accept("-");
    if (!minus && !Accept("+") && !Accept("~")) return Atom(out);
    const char sign = text_[at_ - 1];
    if (!Binary(Operator::kSign, out)) return false;
    if (minus) out = Negated(make_, {&out, 1});
    if (sign == '~') out = Not(make_, {&out, 1});
    return true;
  }

  bool Atom(Fraction& out) {
    Skip();
    if (at_ == text_.size()) return Problem("it is cut short");
    const char c = text_[at_];
    if (IsDigit(c) || c == '.') return Number(out);
    if (IsNameStart(c)) return Name(out);
    if (!Accept("(")) return Problem("it holds a character that no expression has");
    if (!Binary(0, out)) return false;
    if (!Accept(",")) return Expect(')');
    // A pair "(value, condition)" of Piecewise: both are operands.
    operands_.push_back(out);
    return Binary(0, out) && Expect(')');
  }

  bool Number(Fraction& out) {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    std::int64_t whole = 0;
    const auto integer = std::from_chars(begin, end, whole);
    if (integer.ec == std::errc() &&
        (integer.ptr == end || (*integer.ptr != '.' && (*integer.ptr | 0x20) != 'e'))) {
      at_ += static_cast<std::size_t>(integer.ptr - begin);
      out = {Dim(whole)};
      return true;
    }
    double real = 0;
    const auto decimal = std::from_chars(begin, end, real);
    if (decimal.ec != std::errc()) return Problem("a number in it does not fit in 64 bits");
    at_ += static_cast<std::size_t>(decimal.ptr - begin);
    out = ExactFraction(real);
    return true;
  }

  bool Name(Fraction& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (Accept("(")) return Call(name, out);
    for (const Constant& constant : kConstants) {
      if (name != constant.name) continue;
      out = {constant.value};
      return true;
    }
    out = {reader_.Symbol(name)};
    return true;
  }

  // 'text' or "text", without escapes: the name of a symbol, the digits of a float.
  bool String(std::string_view& out) {
    Skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Problem("a quoted name is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return Problem("a quoted name is cut short");
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  // SymPy's assumptions after a symbol's name and a float's digits: ", positive=True, ...)".
  bool SkipAssumptions() {
    const std::size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) return Problem("a bracket is missing");
    at_ = end + 1;
    return true;
  }

  bool Call(std::string_view name, Fraction& out) {
    std::string_view quoted;
    if (name == "Symbol" || name == "Dummy") {
      if (!String(quoted) || !SkipAssumptions()) return false;
      if (quoted.empty()) return Problem("a symbol has no name");
      out = {reader_.Symbol(quoted)};
      return true;
    }
    if (name == "Float") {
      if (!String(quoted) || !SkipAssumptions()) return false;
      double real = 0;
      const auto read = std::from_chars(quoted.data(), quoted.data() + quoted.size(), real);
      if (read.ec != std::errc()) return Problem("a float in it is no number");
      out = ExactFraction(real);
      return true;
    }
    const std::size_t first = operands_.size();
    if (!Accept(")")) {
      do {
        Fraction operand;
        if (!Binary(0, operand)) return false;
        operands_.push_back(operand);
      } while (Accept(","));
      if (!Expect(')')) return false;
    }
    return Apply(name, first, out);
  }

  bool Apply(std::string_view name, std::size_t first, Fraction& out) {
    // A pair of Piecewise: its operands are the outer call's.
    if (name == "ExprCondPair" && operands_.size() == first + 2) {
      out = operands_.back();
      operands_.pop_back();
      return true;
    }
    const Operands args = std::span(operands_).subspan(first);
    const int count = static_cast<int>(args.size());
    const Function* function = FindFunction(name);
    if (function != nullptr && (count < function->least || count > function->most)) {
      return Problem("a function in it has the wrong number of operands");
    }
    out = function == nullptr ? kUnknownFraction : function->make(make_, args);
    operands_.resize(first);
    return true;
  }

  ExpressionReader& reader_;
  Maker make_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Fraction> operands_;
  const char* problem_ = nullptr;
};

Result<Dim> ExpressionReader::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Unexpected(InvalidInput("the size " + Quoted(text) + " is not understood: " + why));
  };
  if (text.size() > kMaxBytes) return refuse("it is longer than 64 KiB");
  ExpressionParser parser(*this, text);
  Fraction value;
  if (!parser.Parse(value)) return refuse(parser.problem());
  return Maker(program_.expressions).Round(ExprOp::kTrueDiv, value);
}

Dim ExpressionReader::Symbol(std::string_view name) {
  Dim& symbol = symbols_[name];
  if (symbol.is_unknown()) {
    const auto index = static_cast<std::uint32_t>(program_.symbols.size());
    steelyard::Symbol added;
    added.name = program_.strings.Intern(name);
    program_.symbols.push_back(added);
    symbol = program_.expressions.MakeSymbol(index);
  }
  return symbol;
}

void ExpressionReader::AddHint(Dim expression, std::int64_t value) {
  if (!expression.is_expression()) return;
  const Expression& e = program_.expressions.at(expression);
  if (e.op != ExprOp::kSymbol) {
    hints_.push_back({expression, value});
    return;
  }
  std::int64_t& example = program_.symbols[static_cast<std::size_t>(e.value)].example;
  if (example < 0) example = value;
}

// Assumes that the expression is linear in the one symbol whose value is missing, and checks the
// outcome.
bool ExpressionReader::SolveFor(const Hint& hint) {
  std::vector<std::optional<std::int64_t>> symbols;
  symbols.reserve(program_.symbols.size());
  for (const auto& symbol : program_.symbols) {
    symbols.push_back(symbol.example < 0 ? std::nullopt : std::optional(symbol.example));
  }
  const auto value_with = [&](std::size_t index, std::int64_t value) {
    const auto before = std::exchange(symbols[index], value);
    const auto result = program_.expressions.Evaluate(symbols)[hint.expression.expression()];
    symbols[index] = before;
    return result;
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i]) continue;
    const auto at_one = value_with(i, 1);
    const auto at_two = value_with(i, 2);
    if (!at_one || !at_two) continue;  // another one is missing, or more than one
    const auto solution = SolveLine(*at_one, *at_two, hint.value);
    if (!solution || value_with(i, *solution) != hint.value) return false;
    program_.symbols[i].example = *solution;
    return true;
  }
  return false;
}

void ExpressionReader::SetExamples() {
  // Each attempt evaluates every expression for each symbol. A file needs one attempt for each
  // symbol that never stands alone: there is a handful, or the file is not worth the time.
  constexpr std::size_t kMaxAttempts = 32;
  constexpr std::size_t kMaxEvaluations = std::size_t{1} << 20U;
  if (program_.symbols.size() > kMaxEvaluations / (program_.expressions.size() + 1)) return;
  const auto has_example = [](const auto& symbol) { return symbol.example >= 0; };
  for (std::size_t i = 0; i < std::min(hints_.size(), kMaxAttempts); ++i) {
    if (std::ranges::all_of(program_.symbols, has_example)) return;
    SolveFor(hints_[i]);
  }
}

}  // namespace steelyard::pt2
