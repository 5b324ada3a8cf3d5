// SPDX-License-Identifier: Apache-2.0
//
// A size that is a*s + b in one unbound symbol gives that symbol its number, which may make other
// sizes such ones, so wishes are gone through until nothing new follows. No other equation is
// solved: in the end every wish is checked against what came out, and an error says who had decided
// it and how to bind what is still open.

#include "pass/size_solver.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/text_expression.h"
#include "support/checked.h"

namespace steelyard {

SizeSolver::SizeSolver(const Program& program)
    : program_(program),
      symbols_(program.symbols.size()),
      from_(program.symbols.size()),
      input_of_(program.symbols.size(), kNoId),
      maker_(program.symbols.size()),
      seen_(program.expressions.size()) {
  FindInputsOfSymbols();
}

// The expressions that `dim` consists of, operands before their users.
std::vector<std::uint32_t> SizeSolver::PartsOf(Dim dim) const {
  std::vector<std::uint32_t> parts;
  std::vector<Dim> open = {dim};
  ++visit_;
  while (!open.empty()) {
    const Dim top = open.back();
    open.pop_back();
    if (!top.is_expression() || seen_[top.expression()] == visit_) continue;
    seen_[top.expression()] = visit_;
    parts.push_back(top.expression());
    const Expression& e = program_.expressions.at(top);
    open.insert(open.end(), {e.a, e.b, e.c});
  }
  std::ranges::sort(parts);
  return parts;
}

std::vector<std::uint32_t> SizeSolver::SymbolsOf(Dim dim) const {
  std::vector<std::uint32_t> symbols;
  for (std::uint32_t part : PartsOf(dim)) {
    const Expression& e = program_.expressions.at(Dim::Expression(part));
    const auto symbol = static_cast<std::uint32_t>(e.value);
    if (e.op == ExprOp::kSymbol && std::ranges::find(symbols, symbol) == symbols.end()) {
      symbols.push_back(symbol);
    }
  }
  return symbols;
}

// `dim` as a*s + b, if it is so under what is bound; a is 0 when nothing is unbound.
std::optional<SizeSolver::Linear> SizeSolver::LinearOf(Dim dim) const {
  if (dim.is_number()) return Linear{.b = dim.number()};
  if (!dim.is_expression()) return std::nullopt;
  Forms forms;
  for (std::uint32_t part : PartsOf(dim)) {
    const Expression& e = program_.expressions.at(Dim::Expression(part));
    forms.emplace(part, LinearOfExpression(forms, e));
  }
  return forms.at(dim.expression());
}

std::optional<SizeSolver::Linear> SizeSolver::LinearOfExpression(const Forms& forms,
                                                                 const Expression& e) const {
  if (e.op == ExprOp::kConstant) return Linear{.b = e.value};
  if (e.op == ExprOp::kSymbol) {
    const auto symbol = static_cast<std::uint32_t>(e.value);
    if (symbols_[symbol]) return Linear{.b = *symbols_[symbol]};
    return Linear{.a = 1, .symbol = symbol};
  }
  const auto part = [&](Dim d) -> std::optional<Linear> {
    if (d.is_number()) return Linear{.b = d.number()};
    return d.is_expression() ? forms.at(d.expression()) : std::nullopt;
  };
  std::optional<Linear> x = part(e.a);
  std::optional<Linear> y = part(e.b);
  const std::optional<Linear> z = part(e.c);
  if (!x || !y || !z) return std::nullopt;
  if (x->a == 0 && y->a == 0 && z->a == 0) {
    const Number number = Apply(e.op, x->b, y->b, z->b);
    return number ? std::optional(Linear{.b = *number}) : std::nullopt;
  }
  if (x->a == 0) std::swap(x, y);  // of a sum or product: x has the symbol
  CheckedInt a;
  CheckedInt b;
  if (e.op == ExprOp::kAdd && (y->a == 0 || y->symbol == x->symbol)) {
    a = CheckedInt(x->a) + y->a;
    b = CheckedInt(x->b) + y->b;
  } else if (e.op == ExprOp::kMul && y->a == 0) {
    a = CheckedInt(x->a) * y->b;
    b = CheckedInt(x->b) * y->b;
  } else {
    return std::nullopt;
  }
  if (!a.ok() || !b.ok()) return std::nullopt;
  return Linear{.a = a.value(), .symbol = x->symbol, .b = b.value()};
}

Status SizeSolver::SolveOne(const SizeWish& wish) {
  const auto solution = SolutionOf(wish.dim, wish.number);
  if (!solution) {
    return Unexpected(InvalidInput(
        "the size " + std::to_string(wish.number) + " is not of the form " +
            DimText(program_, wish.dim),
        wish.from, "That is its size in the file, with a whole number for the symbol."));
  }
  BindTo(solution->first, solution->second, wish.from);
  return {};
}

// Each round binds a symbol at least, so that this ends.
Status SizeSolver::Solve() {
  for (const SizeWish& wish : wishes_) {
    if (wish.number >= 0) continue;
    return Unexpected(InvalidInput("the size " + std::to_string(wish.number) + " is negative",
                                   wish.from, "Sizes start at 0."));
  }
  bool found = true;
  while (found) {
    found = false;
    for (const SizeWish& wish : wishes_) {
      const std::optional<Linear> linear = LinearOf(wish.dim);
      if (!linear || linear->a == 0) continue;
      SY_RETURN_IF_ERROR(SolveOne(wish));
      found = true;
    }
  }
  return {};
}

Status SizeSolver::CheckRanges() const {
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& symbol = program_.symbols[i];
    if (!symbols_[i] || (*symbols_[i] >= symbol.min && *symbols_[i] <= symbol.max)) continue;
    const bool ends = symbol.max < Symbol().max || *symbols_[i] > symbol.max;
    const std::string most = ends ? " to " + std::to_string(symbol.max) : " or more";
    return Unexpected(
        InvalidInput(NameOf(i) + " = " + std::to_string(*symbols_[i]) +
                         " is outside the model's range of " + std::to_string(symbol.min) + most,
                     from_[i],
                     "Choose a size in this range. An exported model has the one that "
                     "dynamic_shapes gave it; one of a config.json has as many "
                     "positions as the config says (max_position_embeddings)."));
  }
  return {};
}

void SizeSolver::TakeExamples() {
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i] || program_.symbols[i].example < 0) continue;
    symbols_[i] = program_.symbols[i].example;
    from_examples_.push_back(i);
  }
}

void SizeSolver::BindTo(std::uint32_t symbol, std::int64_t number, std::string from) {
  if (symbols_[symbol]) return;
  symbols_[symbol] = number;
  from_[symbol] = std::move(from);
}

SizeSolver::Number SizeSolver::NumberNow(Dim dim) const {
  const std::optional<Linear> linear = LinearOf(dim);
  return linear && linear->a == 0 ? Number(linear->b) : std::nullopt;
}

std::optional<std::pair<std::uint32_t, std::int64_t>> SizeSolver::SolutionOf(
    Dim dim, std::int64_t wanted) const {
  const std::optional<Linear> linear = LinearOf(dim);
  if (!linear || linear->a == 0) return std::nullopt;
  const CheckedInt rest = CheckedInt(wanted) - linear->b;
  if (!rest.ok() || rest.value() % linear->a != 0 || rest.value() / linear->a < 0) {
    return std::nullopt;
  }
  return std::pair(linear->symbol, rest.value() / linear->a);
}

Status SizeSolver::Finish() {
  SY_RETURN_IF_ERROR(CheckRanges());
  numbers_ = program_.expressions.Evaluate(symbols_);
  return CheckWishes();
}

SizeSolver::Number SizeSolver::NumberOf(Dim dim) const {
  if (dim.is_number()) return dim.number();
  const bool known = dim.is_expression() && dim.expression() < numbers_.size();
  return known ? numbers_[dim.expression()] : Number();
}

// Everything the user gave must have come out.
Status SizeSolver::CheckWishes() const {
  for (const SizeWish& wish : wishes_) {
    const Number number = NumberOf(wish.dim);
    if (number == wish.number) continue;
    if (!number) return Unexpected(NoNumber(wish.dim, wish.from));
    if (wish.dim.is_number()) {
      return Unexpected(InvalidInput("the size is " + std::to_string(*number) + " in the file, " +
                                         std::to_string(wish.number) + " was asked for",
                                     wish.from,
                                     "This size is fixed. Export the model with dynamic_shapes to "
                                     "vary it."));
    }
    const std::vector<std::uint32_t> symbols = SymbolsOf(wish.dim);
    if (symbols.size() == 1 && !from_[symbols[0]].empty() && from_[symbols[0]] != wish.from) {
      return Unexpected(
          InvalidInput(std::to_string(wish.number) + " by " + wish.from + ", but " +
                           std::to_string(*number) + " by " + from_[symbols[0]],
                       "the size " + DimText(program_, wish.dim),
                       "One of them is enough: sizes of the same symbol agree over all inputs."));
    }
    std::string message = "the size " + DimText(program_, wish.dim) + " is " +
                          std::to_string(wish.number) + " here, ";
    message.append(std::to_string(*number)).append(" by the rest");
    for (std::uint32_t i : symbols) {
      message.append(", ").append(NameOf(i)).append(" = ");
      message.append(std::to_string(*symbols_[i])).append(" by ");
      message.append(from_[i].empty() ? "the file's example" : from_[i]);
    }
    return Unexpected(InvalidInput(std::move(message), wish.from,
                                   "Sizes of the same symbol must agree over all inputs."));
  }
  return {};
}

// The input whose shape a user changes to bind a symbol: the first that has it.
void SizeSolver::FindInputsOfSymbols() {
  for (ValueId id : program_.inputs) {
    const Value& value = program_.values[id];
    std::vector<std::uint32_t> symbols = SymbolsOf(value.scalar);
    for (int i = 0; value.has_layout && i < value.rank; ++i) {
      const std::vector<std::uint32_t> more = SymbolsOf(program_.size(id, i));
      symbols.insert(symbols.end(), more.begin(), more.end());
    }
    for (std::uint32_t symbol : symbols) {
      if (input_of_[symbol] == kNoId) input_of_[symbol] = id;
    }
  }
}

std::string SizeSolver::RemedyFor(std::uint32_t symbol) const {
  const ValueId id = input_of_[symbol];
  if (id == kNoId) return "--size " + NameOf(symbol) + "=N";
  const Value& value = program_.values[id];
  std::string out = "--input " + std::string(program_.text(value.name)) + "=";
  if (value.kind != ValueKind::kTensor) return out + "N";
  // The first two sizes of inputs have options of their own.
  constexpr std::array<std::string_view, 2> kShort = {"--batch N or ", "--seq N or "};
  for (int i = 0; value.rank > 1 && i < 2; ++i) {
    const std::optional<std::uint32_t> own = UnboundSymbolOf(program_.size(id, i));
    if (own == symbol) out.insert(0, kShort[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < value.rank; ++i) {
    const Number number = NumberOf(program_.size(id, i));
    out.append(i == 0 ? "" : "x").append(number ? std::to_string(*number) : "N");
  }
  return out;
}

Error SizeSolver::NoNumber(Dim dim, std::string where) const {
  for (std::uint32_t i : SymbolsOf(dim)) {
    if (symbols_[i]) continue;
    const bool is_open = maker_[i].empty();
    std::string what = is_open ? "has no value and no example in the file"
                               : "is taken from the data by " + maker_[i] + ", without a limit";
    if (DimText(program_, dim) != NameOf(i)) {
      what.insert(0, ", which ").insert(0, NameOf(i)).insert(0, "needs ");
    }
    return InvalidInput("the size " + DimText(program_, dim) + " " + what, std::move(where),
                        "Bind it with " + RemedyFor(i) + OtherOpenSizes(i) + ".");
  }
  return InvalidInput("the size " + DimText(program_, dim) + " has no value", std::move(where),
                      "A division by zero, or a number of more than 62 bits?");
}

// "; seq is open, too: --seq N or --input x=2xN"
std::string SizeSolver::OtherOpenSizes(std::uint32_t named) const {
  std::string out;
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    if (i == named || symbols_[i] || !maker_[i].empty() || input_of_[i] == kNoId) continue;
    out.append("; ").append(NameOf(i)).append(" is open, too: ").append(RemedyFor(i));
  }
  return out;
}

std::optional<std::uint32_t> SizeSolver::UnboundSymbolOf(Dim dim) const {
  const std::optional<Linear> linear = LinearOf(dim);
  if (!linear || linear->a == 0) return std::nullopt;
  return linear->symbol;
}

std::string SizeSolver::NameOf(std::uint32_t symbol) const {
  return std::string(program_.text(program_.symbols[symbol].name));
}

}  // namespace steelyard
