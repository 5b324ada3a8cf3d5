// SPDX-License-Identifier: Apache-2.0
//
// Text as a terminal shows it. Names come from files and may hold anything: broken UTF-8, escape
// sequences, letters that are two columns wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace steelyard::render {

// What a place can display.
enum class Charset : unsigned char { kAscii, kUnicode };

inline constexpr char32_t kReplacement = 0xfffd;  // Stands for what is no character.

struct CodePoint {
  char32_t value = kReplacement;
  std::size_t size = 1;  // Bytes it takes.
  bool valid = false;
};

// Returns the first code point of `text`. Of a sequence that is no UTF-8 it takes the longest part
// that could have begun one, as the Unicode Standard recommends (3.9, "maximal subparts"), so that
// one damaged character becomes one replacement. Requires: `text` is not empty.
[[nodiscard]] CodePoint DecodeUtf8(std::string_view text);

// Appends `value` as UTF-8. Requires: a Unicode scalar value.
void AppendUtf8(char32_t value, std::string* out);

// Returns how many columns `text` takes on a terminal: marks that combine none, most letters one,
// East Asian ideographs and emoji two. Requires: what `Printable` returned.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);

// Returns `text` without anything that could do more than be seen: control characters and changes
// of writing direction become the replacement character, line breaks and tabs a space. In ASCII a
// few known signs are spelled (`×` as `x`) and any other becomes `?`.
[[nodiscard]] std::string Printable(std::string_view text, Charset charset);

// Which part of a text gives way.
enum class Cut : unsigned char {
  kMiddle,  // For names: both ends of a module path say more than what is between.
  kEnd,     // For words.
};

// Returns `text` in at most `width` columns, with a mark for what was left out: `bert.enc….dense`.
// Requires: what `Printable` returned.
[[nodiscard]] std::string Ellipsize(std::string_view text, std::size_t width, Cut cut,
                                    Charset charset);

}  // namespace steelyard::render
