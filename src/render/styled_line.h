// SPDX-License-Identifier: Apache-2.0
//
// Lines of a text report while they are laid out: pieces of text with styles, measured in columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "render/utf8.h"
#include "steelyard/report.h"

namespace steelyard::render {

// What the options say about characters.
[[nodiscard]] inline Charset CharsetOf(const report::RenderOptions& options) {
  return options.unicode ? Charset::kUnicode : Charset::kAscii;
}

// One line. Columns are counted from 0.
class StyledLine {
 public:
  // Adds `text` at the end. Requires: what `Printable` returned, or plain ASCII.
  void Add(std::string_view text, report::Style style = report::Style::kPlain);

  // Adds spaces until the line is `column` wide; none if it is already.
  void PadTo(std::size_t column);

  [[nodiscard]] std::size_t width() const { return width_; }

  // Appends the line without spaces at its end, and a newline. Styles become ANSI colours where
  // `options` allow them.
  void WriteTo(const report::RenderOptions& options, std::string* out) const;

 private:
  struct Piece {
    std::string text;
    report::Style style;
  };
  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

// How a number says that it is not exact.
enum class ClaimForm : unsigned char {
  kWords,   // `at least 1.89 GiB`, in sentences.
  kSymbol,  // `≥ 1.89 GiB`, where room is scarce.
};

// Returns what stands before a number to say how sure it is, with a space after it; may be empty.
[[nodiscard]] std::string_view ClaimPrefix(Claim claim, ClaimForm form);

// Returns the text of a number, printable in the charset of `options`.
[[nodiscard]] std::string TextOf(const Quantity& quantity, ClaimForm form,
                                 const report::RenderOptions& options);

// Returns the printable text of a span.
[[nodiscard]] std::string TextOf(const report::Span& span, ClaimForm form,
                                 const report::RenderOptions& options);

// Returns how many columns `sentence` takes on one line.
[[nodiscard]] std::size_t WidthOf(const report::Sentence& sentence,
                                  const report::RenderOptions& options);

// Appends `sentence` to `line` and writes it, on as many lines as the width of `options` asks for;
// all but the first begin at column `hanging`. Breaks only at spaces of its texts, never within a
// number; a word that is wider than a line loses its middle.
void WriteSentence(const report::Sentence& sentence, StyledLine line, std::size_t hanging,
                   const report::RenderOptions& options, std::string* out);

}  // namespace steelyard::render
