// SPDX-License-Identifier: Apache-2.0
//
// Sources and frames are numbered in order without gaps, so that a number is a place in the table
// and an earlier line. A module hangs below the nearest module whose path its own begins with,
// unless `within` names another, and one that no line declares is there from its first node on.

#include "ir/text_table_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard {
namespace {

constexpr std::int64_t kMaxLine = UINT32_MAX;

}  // namespace

bool TextTableReader::ReadName(Plain plain, std::string& quoted, std::string_view& text) {
  if (plain == nullptr || scan_.Sees("\"")) {
    if (!scan_.String(quoted)) return false;
    text = quoted;
  } else {
    text = (scan_.*plain)();
    if (text.empty()) return scan_.Fail("expected a name, " + scan_.Found(), "Or a \"string\".");
  }
  return true;
}

bool TextTableReader::ReadText(Plain plain, StringId& out) {
  std::string quoted;
  std::string_view text;
  if (!ReadName(plain, quoted, text)) return false;
  out = program_.strings.Intern(text);
  return true;
}

bool TextTableReader::ReadOpName(OpId& out) {
  std::string quoted;
  std::string_view text;
  if (!ReadName(&TextScanner::OpName, quoted, text)) return false;
  out = program_.AddOpName(text);
  return true;
}

// symbol NAME [: MIN..[MAX]] [= EXAMPLE]
bool TextTableReader::ReadSymbol() {
  Symbol symbol;
  std::string name;
  scan_.Peek();
  const std::size_t at = scan_.position();
  if (!dims_.ReadName(name)) return false;
  if (scan_.Accept(':')) {
    if (!scan_.Unsigned(symbol.max, symbol.min) || !scan_.Expect("..", "the least size")) {
      return false;
    }
    if (IsDigit(scan_.Peek()) && !scan_.Unsigned(symbol.max, symbol.max)) return false;
    if (symbol.min > symbol.max) {
      return scan_.FailAt(at, "the range of \"" + name + "\" is empty", "Write it as 1..512.");
    }
  }
  if (scan_.Accept('=') && !scan_.Unsigned(Symbol().max, symbol.example)) return false;
  if (dims_.Declare(name, symbol)) return true;
  return scan_.FailAt(at, "the symbol \"" + name + "\" is declared twice",
                      "A symbol is declared before it is used, once.");
}

bool TextTableReader::ReadModulePath(StringId& out) {
  scan_.Peek();
  const std::size_t at = scan_.position();
  if (!ReadText(&TextScanner::Path, out)) return false;
  const std::string_view path = program_.text(out);
  // Looking for its parents takes time by the square of its length.
  constexpr std::size_t kMaxPath = 4096;
  if (path.size() <= std::size_t{kMaxTextDepth}) return true;
  if (path.size() <= kMaxPath && std::ranges::count(path, '.') <= kMaxTextDepth) return true;
  return scan_.FailAt(at, "the module's path is too long",
                      "It may have " + std::to_string(kMaxTextDepth) + " dots and " +
                          std::to_string(kMaxPath) + " characters.");
}

// module PATH [: CLASS] [within PATH]
bool TextTableReader::ReadModule() {
  scan_.Peek();
  const std::size_t at = scan_.position();
  Module module;
  if (!ReadModulePath(module.path)) return false;
  if (scan_.Accept(':') && !ReadText(&TextScanner::Path, module.class_name)) return false;
  if (module.path == kNoString) {
    program_.modules[0].class_name = module.class_name;
    return true;
  }
  module.parent = NearestModule(program_.strings, modules_, module.path);
  if (scan_.AcceptWord("within")) {
    StringId parent = kNoString;
    const std::size_t parent_at = (scan_.Peek(), scan_.position());
    if (!ReadModulePath(parent)) return false;
    const auto found = modules_.find(parent);
    if (found == modules_.end()) {
      return scan_.FailAt(parent_at, "there is no such module before this line",
                          "A module's parent is declared first.");
    }
    module.parent = found->second;
  }
  const auto id = static_cast<ModuleId>(program_.modules.size());
  if (!modules_.emplace(module.path, id).second) {
    return scan_.FailAt(at, "this module is there already",
                        "It is declared once, before the nodes that run in it.");
  }
  program_.modules.push_back(module);
  return true;
}

// "file":LINE [FUNCTION ["code"]]
bool TextTableReader::ReadSourceLine(SourceLine& out) {
  std::int64_t line = 0;
  if (!ReadText(&TextScanner::Path, out.file) || !scan_.Expect(":", "a file's name") ||
      !scan_.Unsigned(kMaxLine, line)) {
    return false;
  }
  out.line = static_cast<std::uint32_t>(line);
  // After a line number "in", "phase" and the like go on with the node.
  const std::string_view word = scan_.PeekWord();
  constexpr std::array<std::string_view, 4> kNodeWords = {"in", "phase", "frame", "origin"};
  const bool function = !word.empty() && std::ranges::find(kNodeWords, word) == kNodeWords.end();
  if (!function && !scan_.Sees("\"")) return true;
  if (!ReadText(&TextScanner::Path, out.function)) return false;
  return !scan_.Sees("\"") || ReadText(nullptr, out.code);
}

// A number that says the position in a table, so that a reader of the text can find it.
bool TextTableReader::ReadIndex(std::size_t size, std::string_view what, std::uint32_t& out) {
  scan_.Peek();
  const std::size_t at = scan_.position();
  std::int64_t index = 0;
  if (!scan_.Unsigned(kMaxLine, index)) return false;
  if (static_cast<std::size_t>(index) < size) {
    out = static_cast<std::uint32_t>(index);
    return true;
  }
  return scan_.FailAt(at, "there is no " + std::string(what) + " " + std::to_string(index),
                      "It is declared before it is used.");
}

// The number of a new row of a table, which must be the next.
bool TextTableReader::ReadNext(std::size_t next, std::string_view what) {
  scan_.Peek();
  const std::size_t at = scan_.position();
  std::int64_t index = 0;
  if (!scan_.Unsigned(kMaxLine, index)) return false;
  if (static_cast<std::size_t>(index) == next) return scan_.Expect(":", "the number");
  return scan_.FailAt(at, "expected " + std::string(what) + " " + std::to_string(next),
                      "They are numbered in order, without gaps.");
}

// source NUMBER: LINE
bool TextTableReader::ReadSource() {
  SourceLine source;
  if (!ReadNext(program_.sources.size(), "source") || !ReadSourceLine(source)) return false;
  program_.sources.push_back(source);
  return true;
}

// frame NUMBER: OPERATOR [within NUMBER]
bool TextTableReader::ReadFrame() {
  const std::size_t next = program_.frames.size();
  Frame frame;
  if (!ReadNext(next, "frame") || !ReadOpName(frame.op)) return false;
  if (scan_.AcceptWord("within") && !ReadIndex(next, "frame", frame.parent)) return false;
  program_.frames.push_back(frame);
  return true;
}

// A path that no line declares is a module without a class.
bool TextTableReader::ReadModuleOf(Node& node) {
  StringId path = kNoString;
  if (!ReadModulePath(path)) return false;
  const auto next = static_cast<ModuleId>(program_.modules.size());
  const auto [entry, added] = modules_.try_emplace(path, next);
  node.module = entry->second;
  if (!added) return true;
  program_.modules.push_back({.path = path,
                              .class_name = kNoString,
                              .parent = NearestModule(program_.strings, modules_, path)});
  return true;
}

bool TextTableReader::ReadPlaceOf(Node& node) {
  if (IsDigit(scan_.Peek())) return ReadIndex(program_.sources.size(), "source", node.source);
  SourceLine source;
  if (!ReadSourceLine(source)) return false;
  node.source = static_cast<SourceId>(program_.sources.size());
  program_.sources.push_back(source);
  return true;
}

bool TextTableReader::ReadFrameOf(Node& node) {
  return ReadIndex(program_.frames.size(), "frame", node.frame);
}

}  // namespace steelyard
