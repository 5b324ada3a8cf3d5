// SPDX-License-Identifier: Apache-2.0
//
// Symbolic sizes as torch prints them: SymPy's constructors since torch 2.6,
// "Mul(Integer(16), Symbol('s0', positive=True, integer=True))", and Python's infix before,
// "16*s0" and "Max(1, s0//2)". Both are one language and are read by one parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/pt2/token_map.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

class ExpressionReader {
 public:
  // Longest text and deepest nesting that is read. Torch's are a few hundred bytes and ten deep;
  // the second bounds the stack.
  static constexpr std::size_t kMaxBytes = 65536;
  static constexpr int kMaxDepth = 200;

  explicit ExpressionReader(Program& program) : program_(program), symbols_(Dim::Unknown()) {}

  // The size that `text` says, over symbols of the program, which are added when they are new.
  // Unknown when it uses a function that Steelyard has no meaning for. `text` must outlive this.
  Result<Dim> Parse(std::string_view text);

  // Remembers that `expression` had the value `value` when the model was exported.
  void AddHint(Dim expression, std::int64_t value);

  // Gives each symbol the value it had: its own hint or else, where only expressions of it were
  // recorded ("2*s0" of a dimension that must be even), the value that makes a hint come out.
  void SetExamples();

 private:
  struct Hint {
    Dim expression;
    std::int64_t value;
  };
  friend class ExpressionParser;
  Dim Symbol(std::string_view name);
  bool SolveFor(const Hint& hint);

  Program& program_;
  TokenMap<Dim> symbols_;  // by name
  std::vector<Hint> hints_;
};

}  // namespace steelyard::pt2
