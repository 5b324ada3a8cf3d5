// SPDX-License-Identifier: Apache-2.0
//
// Decides how enumerators are spelt and which names need no quotes. Printer and reader both ask
// here, so that what the one writes the other reads back. A number that is real is written in the
// fewest digits that give it again, with a point where nothing else would tell it from an integer.

#include "ir/text_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace steelyard {
namespace {

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

constexpr std::array kRoleWords = {
    Word<Role>{Role::kParameter, "parameter"}, Word<Role>{Role::kBuffer, "buffer"},
    Word<Role>{Role::kInput, "input"},         Word<Role>{Role::kActivation, "activation"},
    Word<Role>{Role::kGradient, "gradient"},   Word<Role>{Role::kOptimizerState, "optimizer_state"},
    Word<Role>{Role::kOutput, "output"},       Word<Role>{Role::kCache, "cache"},
};

constexpr std::array kPhaseWords = {
    Word<Phase>{Phase::kForward, "forward"},     Word<Phase>{Phase::kLoss, "loss"},
    Word<Phase>{Phase::kBackward, "backward"},   Word<Phase>{Phase::kOptimizer, "optimizer"},
    Word<Phase>{Phase::kRecompute, "recompute"},
};

constexpr std::array kKindWords = {
    Word<ValueKind>{ValueKind::kTensor, "tensor"}, Word<ValueKind>{ValueKind::kInt, "int"},
    Word<ValueKind>{ValueKind::kFloat, "float"},   Word<ValueKind>{ValueKind::kBool, "bool"},
    Word<ValueKind>{ValueKind::kOther, "object"},
};

constexpr std::array<std::string_view, 16> kStatementWords = {
    "program", "producer", "note",  "symbol", "module",  "source", "frame",      "parameter",
    "buffer",  "input",    "value", "takes",  "mutates", "return", "ties_known", "releases",
};

constexpr std::array<std::string_view, 12> kExpressionWords = {
    "None", "True", "False", "inf", "nan", "and", "or", "not", "Min", "Max", "CeilDiv", "Where",
};

template <class Rows, class Enum>
std::string_view WordIn(const Rows& rows, Enum value) {
  for (const auto& row : rows) {
    if (row.value == value) return row.word;
  }
  return {};
}

template <class Enum, std::size_t kCount>
std::optional<Enum> ValueIn(const std::array<Word<Enum>, kCount>& rows, std::string_view word) {
  for (const auto& row : rows) {
    if (row.word == word) return row.value;
  }
  return std::nullopt;
}

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

bool IsPlainWord(std::string_view text) {
  return !text.empty() && IsWordStart(text[0]) && std::ranges::all_of(text, IsWordChar);
}

bool IsPlainName(std::string_view text) {
  return !text.empty() && IsWordStart(text[0]) && std::ranges::all_of(text, IsPathChar);
}

bool IsPlainPath(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsPathChar);
}

bool IsPlainOpName(std::string_view text) {
  if (text.empty() || !IsWordStart(text[0]) || IsStatementWord(text)) return false;
  if (text == "None" || text == "graph") return false;
  while (true) {
    const std::size_t colons = text.find("::");
    if (colons == std::string_view::npos) return IsPlainName(text);
    if (!IsPlainName(text.substr(0, colons))) return false;
    text.remove_prefix(colons + 2);
  }
}

bool IsStatementWord(std::string_view text) { return Contains(kStatementWords, text); }

bool IsExpressionWord(std::string_view text) {
  return Contains(kExpressionWords, text) || DTypeShortNamed(text).has_value();
}

std::string_view WordOf(Role role) { return WordIn(kRoleWords, role); }
std::string_view WordOf(Phase phase) { return WordIn(kPhaseWords, phase); }
std::string_view WordOf(ValueKind kind) { return WordIn(kKindWords, kind); }
std::optional<Role> RoleNamed(std::string_view word) { return ValueIn(kRoleWords, word); }
std::optional<Phase> PhaseNamed(std::string_view word) { return ValueIn(kPhaseWords, word); }

std::optional<ValueKind> ScalarKindNamed(std::string_view word) {
  const std::optional<ValueKind> kind = ValueIn(kKindWords, word);
  return kind == ValueKind::kTensor ? std::nullopt : kind;
}

ModuleId NearestModule(const StringTable& strings, const ModulesByPath& modules, StringId path) {
  std::string_view prefix = strings.view(path);
  for (std::size_t dot = prefix.rfind('.'); dot != std::string_view::npos;
       dot = prefix.rfind('.')) {
    prefix = prefix.substr(0, dot);
    const StringId id = strings.Find(prefix);
    const auto found = id == kNoString ? modules.end() : modules.find(id);
    if (found != modules.end()) return found->second;
  }
  return 0;
}

void AppendQuoted(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").push_back(kHex[byte >> 4U]);
      out.push_back(kHex[byte & 15U]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void AppendReal(double real, std::string& out) {
  if (std::isnan(real)) {
    out.append("nan");
    return;
  }
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), real).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out.append(text);
  if (text.find_first_of(".en") == std::string_view::npos) out.append(".0");
}

}  // namespace steelyard
