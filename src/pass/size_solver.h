// SPDX-License-Identifier: Apache-2.0
//
// Finds the numbers behind a program's symbols from sizes that are asked for ("dimension 1 of
// input_ids, 2*s0 + 1 in the file, is 129").
//
//   SizeSolver solver(program);
//   solver.Ask({.dim = program.size(input, 1), .number = 129, .from = "--seq"});
//   SY_RETURN_IF_ERROR(solver.Solve());   // as often as there is more to ask
//   SY_RETURN_IF_ERROR(solver.Finish());  // the rest from the file's example sizes
//   solver.NumberOf(dim);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// A size that is asked for, and by what: `input "input_ids", dimension 1`.
struct SizeWish {
  Dim dim;
  std::int64_t number;
  std::string from;
};

class SizeSolver {
 public:
  using Number = std::optional<std::int64_t>;

  // Requires: `program` outlives this, and gets no other symbols, expressions or inputs meanwhile.
  explicit SizeSolver(const Program& program);

  void Ask(SizeWish wish) { wishes_.push_back(std::move(wish)); }
  // Binds what follows from the wishes so far: every a*s + b with one unbound symbol s.
  Status Solve();
  // Gives symbols that are still unbound their example sizes.
  void TakeExamples();
  // An error when a symbol is out of its range or a wish did not come true.
  Status Finish();

  // Binds a symbol, which `from` decides, if it is not bound already.
  void BindTo(std::uint32_t symbol, std::int64_t number, std::string from);
  bool IsBound(std::uint32_t symbol) const { return symbols_[symbol].has_value(); }
  Number NumberOfSymbol(std::uint32_t symbol) const { return symbols_[symbol]; }
  // Whether some input's shape has the symbol.
  bool IsOfInput(std::uint32_t symbol) const { return input_of_[symbol] != kNoId; }
  // What brings a symbol into the program, for errors: "aten::nonzero (model.py:7)".
  void SetMaker(std::uint32_t symbol, const std::string& maker) {
    if (maker_[symbol].empty()) maker_[symbol] = maker;
  }

  // Symbols that Finish had to take from the file.
  const std::vector<std::uint32_t>& from_examples() const { return from_examples_; }
  // Under what is bound so far; nothing where that does not suffice.
  Number NumberNow(Dim dim) const;
  // The unbound symbol and its number that make `dim`, which is a*s + b, the number `wanted`.
  std::optional<std::pair<std::uint32_t, std::int64_t>> SolutionOf(Dim dim,
                                                                   std::int64_t wanted) const;
  // Requires: Finish. Nothing where a symbol has no value, or the arithmetic fails.
  Number NumberOf(Dim dim) const;
  // Why NumberOf(dim) has nothing.
  Error NoNumber(Dim dim, std::string where) const;

  // Distinct symbols within `dim`.
  std::vector<std::uint32_t> SymbolsOf(Dim dim) const;
  // The symbol whose number would give `dim` its own, if it is a*s + b with s unbound.
  std::optional<std::uint32_t> UnboundSymbolOf(Dim dim) const;
  // "--input input_ids=2x64", or "--size u0=N" where no input's shape has it: what binds a symbol.
  std::string RemedyFor(std::uint32_t symbol) const;
  // "; seq is open, too: --seq N": the others that stop a weighing; empty where there is none.
  std::string OtherOpenSizes(std::uint32_t named) const;
  std::string NameOf(std::uint32_t symbol) const;

 private:
  // a*symbol + b; b alone where a is 0.
  struct Linear {
    std::int64_t a = 0;
    std::uint32_t symbol = 0;
    std::int64_t b = 0;
  };
  using Forms = std::unordered_map<std::uint32_t, std::optional<Linear>>;

  void FindInputsOfSymbols();
  std::vector<std::uint32_t> PartsOf(Dim dim) const;
  std::optional<Linear> LinearOf(Dim dim) const;
  std::optional<Linear> LinearOfExpression(const Forms& forms, const Expression& e) const;
  Status SolveOne(const SizeWish& wish);
  Status CheckRanges() const;
  Status CheckWishes() const;

  const Program& program_;
  std::vector<SizeWish> wishes_;
  // By symbol: its number, what bound it, and the first input whose shape has it.
  std::vector<Number> symbols_;
  std::vector<std::string> from_;
  std::vector<ValueId> input_of_;
  std::vector<std::string> maker_;
  std::vector<std::uint32_t> from_examples_;
  std::vector<Number> numbers_;  // by expression, once finished
  // Scratch of PartsOf: the last visit that saw an expression.
  mutable std::vector<std::uint32_t> seen_;
  mutable std::uint32_t visit_ = 0;
};

}  // namespace steelyard
