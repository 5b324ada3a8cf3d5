// SPDX-License-Identifier: Apache-2.0
//
// Symbolic sizes as text, in Python's notation: "30522*s70", "Max(1, s72//2)", "s0 - 1". Relations
// and `and`, `or`, `not` as in Python; CeilDiv(a, b); Where(condition, a, b).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/text_scanner.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends `dim` as text; an unknown one is "?".
void AppendDim(const Program& program, Dim dim, std::string& out);
std::string DimText(const Program& program, Dim dim);

// Reads sizes and adds their expressions to a program.
class DimReader {
 public:
  // What a name that is not yet a symbol means: a mistake, or a new symbol.
  enum class UnknownName : std::uint8_t { kRefuse, kDeclare };

  DimReader(TextScanner& scan, Program& program) : scan_(scan), program_(program) {}

  bool Read(Dim& out);
  // Names a new symbol; false when there is one of this name.
  bool Declare(std::string_view name, Symbol symbol);
  // A symbol's name where it is declared or used: a word, or a string after '$'.
  bool ReadName(std::string& out);
  void set_unknown_name(UnknownName meaning) { unknown_name_ = meaning; }

 private:
  bool Or(Dim& out);
  bool And(Dim& out);
  bool Not(Dim& out);
  bool Relation(Dim& out);
  bool Sum(Dim& out);
  bool Product(Dim& out);
  bool Signed(Dim& out);
  bool Power(Dim& out);
  bool Atom(Dim& out);
  bool SymbolOrCall(Dim& out);
  bool Call(std::string_view function, Dim& out);
  Dim Negated(Dim d);

  TextScanner& scan_;
  Program& program_;
  std::unordered_map<StringId, Dim> symbols_;
  UnknownName unknown_name_ = UnknownName::kRefuse;
  int depth_ = 0;
};

}  // namespace steelyard
