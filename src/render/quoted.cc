// SPDX-License-Identifier: Apache-2.0
#include "render/quoted.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "render/utf8.h"

namespace steelyard::render {
namespace {

// The letter that stands for a character after a backslash, or 0 where it has none.
char ShortEscape(char32_t value) {
  constexpr std::string_view kCharacters = "\"\\\n\t\r";
  constexpr std::string_view kLetters = "\"\\ntr";
  const std::size_t at =
      value < 0x80 ? kCharacters.find(static_cast<char>(value)) : std::string_view::npos;
  return at == std::string_view::npos ? '\0' : kLetters[at];
}

// Whether a character stands for itself: all of most texts.
bool IsPlain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

void AppendEscaped(char32_t value, std::string* out) {
  if (const char letter = ShortEscape(value); letter != '\0') {
    out->push_back('\\');
    out->push_back(letter);
  } else if (value < ' ' || value == 0x7f) {
    fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(value));
  } else {
    AppendUtf8(value, out);
  }
}

}  // namespace

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, IsPlain) - text.begin());
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint next = DecodeUtf8(text);
    AppendEscaped(next.value, out);
    text.remove_prefix(next.size);
  }
  out->push_back('"');
}

}  // namespace steelyard::render
