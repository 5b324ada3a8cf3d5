// SPDX-License-Identifier: Apache-2.0
//
// The words of the text form, shared by the printer and the reader. The grammar, by example:
//
//   program Tiny                             # comments run to the end of the line
//   symbol batch: 1..64 = 2                  # range and the size in the file; both may be left out
//   module encoder: BertEncoder
//   parameter %w: f32[8,8] "encoder.weight"  # the name the user sees, %w's own if left out
//   parameter %v: f32[8,8] "head.weight" tied to %w
//   ties_known                               # no other names are one tensor
//   releases 1, 0                            # results as a caller lets them go; else last first
//   buffer %b: f32[8] non_persistent
//   parameter %q: f32[1,256] frozen packed "q4_k" 144
//   input %x: f32[batch,8]{8,1}              # strides, contiguous ones are left out
//   %y: f32[batch,8] = aten::linear(%x, %w, bias=%b) in encoder
//   %n: int(2*batch) = aten::sym_size.int(%y, 0)
//   %a: f32[batch,4], None = aten::split(%y, [4, 4], -1) phase backward
//   return %a, 1, None
//
//   graph @1(%x: f32[2]) {
//     return %x
//   }
//
// A statement is a line; within ( ) and [ ] lines may be broken. A result without a type is a
// tensor whose layout a shape rule fills in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "steelyard/program.h"

namespace steelyard {

inline constexpr int kMaxTextDepth = 200;  // of brackets, expressions, graphs and module paths

// Characters of names and paths that need no quotes.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
// By character: those of words, and those of paths, which have dots too.
enum CharClass : std::uint8_t { kNoName, kOfPath, kOfWord };
inline constexpr std::array<CharClass, 256> kCharClasses = [] {
  std::array<CharClass, 256> classes{};
  for (std::size_t i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i);
    if (c == '.') classes[i] = kOfPath;
    if (IsWordStart(c) || IsDigit(c)) classes[i] = kOfWord;
  }
  return classes;
}();
constexpr bool IsWordChar(char c) { return kCharClasses[static_cast<unsigned char>(c)] == kOfWord; }
constexpr bool IsPathChar(char c) { return kCharClasses[static_cast<unsigned char>(c)] != kNoName; }

bool IsPlainWord(std::string_view text);    // of symbols and arguments: "s70"
bool IsPlainName(std::string_view text);    // of values and classes: "relu_1.out"
bool IsPlainPath(std::string_view text);    // of modules: "encoder.layer.0"
bool IsPlainOpName(std::string_view text);  // "aten::add.Tensor"

// A word that begins a statement, so that an operator of that name is quoted.
bool IsStatementWord(std::string_view text);
// A word that means something within expressions, so that a symbol of that name is quoted.
bool IsExpressionWord(std::string_view text);

// The word of a role or phase, and back.
std::string_view WordOf(Role role);
std::string_view WordOf(Phase phase);
std::string_view WordOf(ValueKind kind);
std::optional<Role> RoleNamed(std::string_view word);
std::optional<Phase> PhaseNamed(std::string_view word);
// Of the kinds other than tensors.
std::optional<ValueKind> ScalarKindNamed(std::string_view word);

using ModulesByPath = std::unordered_map<StringId, ModuleId>;
// The module that a new one of this path belongs to if nothing is said: the longest of its dotted
// prefixes that is there, or else the model itself.
ModuleId NearestModule(const StringTable& strings, const ModulesByPath& modules, StringId path);

void AppendQuoted(std::string_view text, std::string& out);
// The shortest digits that read back as the same number; never like an integer.
void AppendReal(double real, std::string& out);

}  // namespace steelyard
