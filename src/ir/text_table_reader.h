// SPDX-License-Identifier: Apache-2.0
//
// The lines of a text program that fill its tables: symbols, modules, source lines, frames; and the
// words after a node that refer to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/text_expression.h"
#include "ir/text_scanner.h"
#include "ir/text_words.h"
#include "steelyard/program.h"

namespace steelyard {

class TextTableReader {
 public:
  TextTableReader(TextScanner& scan, Program& program, DimReader& dims)
      : scan_(scan), program_(program), dims_(dims) {
    modules_.emplace(kNoString, 0);
  }

  // Each after its word: `symbol`, `module`, `source`, `frame`.
  bool ReadSymbol();
  bool ReadModule();
  bool ReadSource();
  bool ReadFrame();

  // "in bert.encoder", "at 3" (or the source line itself) and "frame 2" of a node, after the word.
  bool ReadModuleOf(Node& node);
  bool ReadPlaceOf(Node& node);
  bool ReadFrameOf(Node& node);

  // A string, or where `plain` is given, what it reads.
  using Plain = std::string_view (TextScanner::*)();
  bool ReadText(Plain plain, StringId& out);
  bool ReadOpName(OpId& out);

 private:
  bool ReadName(Plain plain, std::string& quoted, std::string_view& text);
  bool ReadSourceLine(SourceLine& out);
  bool ReadModulePath(StringId& out);
  bool ReadNext(std::size_t next, std::string_view what);
  bool ReadIndex(std::size_t size, std::string_view what, std::uint32_t& out);

  TextScanner& scan_;
  Program& program_;
  DimReader& dims_;
  ModulesByPath modules_;
};

}  // namespace steelyard
