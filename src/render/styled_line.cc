// SPDX-License-Identifier: Apache-2.0
//
// Breaking sentences: spans are cut into words, a word being what stands between two spaces even if
// several spans of different styles make it up (`(` + `417.8 MiB` + `)`), and words are put on
// lines as long as they fit. Gaps keep their width unless a line ends there.
#include "render/styled_line.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "render/utf8.h"
#include "steelyard/report.h"
#include "steelyard/units.h"
#include "support/assert.h"

namespace steelyard::render {
namespace {

using report::RenderOptions;
using report::Sentence;
using report::Span;
using report::Style;

// A line is never wrapped narrower than this, however deep the indentation is.
constexpr std::size_t kNarrowest = 16;

// U+00A0, a space at which no line ends.
constexpr std::string_view kNoBreakSpace = "\u00a0";

struct Piece {
  std::string text;
  Style style;
};

struct Word {
  std::vector<Piece> pieces;
  std::size_t gap = 0;  // Spaces before it.
  std::size_t width = 0;

  void Add(std::string_view text, Style style) {
    pieces.push_back({std::string(text), style});
    width += DisplayWidth(text);
  }
};

std::string_view Ansi(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kWarning:
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kBlue:
      return "\x1b[34m";
    case Style::kGreen:
      return "\x1b[32m";
    case Style::kRed:
      return "\x1b[31m";
  }
  SY_UNREACHABLE("every style has a colour");
}
constexpr std::string_view kAnsiEnd = "\x1b[0m";

// Adds `text` to the words: a space ends one.
void AddWords(std::string_view text, Style style, std::vector<Word>* words) {
  while (!text.empty()) {
    const std::size_t gap = std::min(text.find_first_not_of(' '), text.size());
    if (gap > 0 && !words->back().pieces.empty()) words->emplace_back();
    words->back().gap += gap;
    text.remove_prefix(gap);
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) words->back().Add(word, style);
    text.remove_prefix(word.size());
  }
}

std::vector<Word> WordsOf(const Sentence& sentence, const RenderOptions& options) {
  std::vector<Word> words(1);
  for (const Span& span : sentence) {
    const auto* plain = std::get_if<std::string>(&span.content);
    if (plain == nullptr) {
      words.back().Add(TextOf(span, ClaimForm::kWords, options), span.style);
      continue;
    }
    std::string_view rest = *plain;
    while (true) {
      const std::size_t end = std::min(rest.find(kNoBreakSpace), rest.size());
      AddWords(Printable(rest.substr(0, end), CharsetOf(options)), span.style, &words);
      if (end == rest.size()) break;
      words.back().Add(" ", span.style);
      rest.remove_prefix(end + kNoBreakSpace.size());
    }
  }
  return words;
}

// Makes `word` fit `width` columns by leaving out its middle. A word of several pieces becomes one.
void Shorten(std::size_t width, Charset charset, Word* word) {
  if (word->width <= width) return;
  std::string whole;
  for (const Piece& piece : word->pieces) whole += piece.text;
  const Style style = word->pieces.front().style;
  word->pieces.clear();
  word->width = 0;
  word->Add(Ellipsize(whole, width, Cut::kMiddle, charset), style);
}

}  // namespace

void StyledLine::Add(std::string_view text, Style style) {
  if (text.empty()) return;
  width_ += DisplayWidth(text);
  if (!pieces_.empty() && pieces_.back().style == style) {
    pieces_.back().text += text;
  } else {
    pieces_.push_back({std::string(text), style});
  }
}

void StyledLine::PadTo(std::size_t column) {
  if (column > width_) Add(std::string(column - width_, ' '));
}

void StyledLine::WriteTo(const RenderOptions& options, std::string* out) const {
  // Padding is only ever plain, so what may have to go is at the end of the last piece, or is it.
  std::size_t count = pieces_.size();
  std::size_t last_size = 0;
  for (; count > 0; --count) {
    last_size = pieces_[count - 1].text.find_last_not_of(' ') + 1;
    if (last_size > 0) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view text = pieces_[i].text;
    if (i + 1 == count) text = text.substr(0, last_size);
    const std::string_view ansi = options.colour ? Ansi(pieces_[i].style) : "";
    out->append(ansi).append(text).append(ansi.empty() ? "" : kAnsiEnd);
  }
  out->push_back('\n');
}

std::string_view ClaimPrefix(Claim claim, ClaimForm form) {
  switch (claim) {
    case Claim::kExact:
      return "";
    case Claim::kAtLeast:
      return form == ClaimForm::kWords ? "at least " : "≥ ";
    case Claim::kEstimated:
      return form == ClaimForm::kWords ? "about " : "~ ";
  }
  SY_UNREACHABLE("every claim has a prefix");
}

std::string TextOf(const Quantity& quantity, ClaimForm form, const RenderOptions& options) {
  const FormatOptions format{.style = options.units, .sign = quantity.sign};
  std::string text(ClaimPrefix(quantity.claim, form));
  text +=
      std::visit([&](auto value) { return Format(value, quantity.unit, format); }, quantity.value);
  return Printable(text, CharsetOf(options));
}

std::string TextOf(const Span& span, ClaimForm form, const RenderOptions& options) {
  if (const auto* quantity = std::get_if<Quantity>(&span.content)) {
    return TextOf(*quantity, form, options);
  }
  return Printable(std::get<std::string>(span.content), CharsetOf(options));
}

std::size_t WidthOf(const Sentence& sentence, const RenderOptions& options) {
  std::size_t width = 0;
  for (const Span& span : sentence) {
    width += DisplayWidth(TextOf(span, ClaimForm::kWords, options));
  }
  return width;
}

void WriteSentence(const Sentence& sentence, StyledLine line, std::size_t hanging,
                   const RenderOptions& options, std::string* out) {
  const bool limited = options.width > 0;
  const auto width = static_cast<std::size_t>(std::max(options.width, 0));
  if (limited && width < hanging + kNarrowest) hanging = std::min<std::size_t>(hanging, 2);
  bool at_start = true;  // Whether the line still has none of the sentence's words.
  for (Word& word : WordsOf(sentence, options)) {
    if (limited && line.width() + word.gap + word.width > width && line.width() > hanging) {
      line.WriteTo(options, out);
      line = StyledLine();
      line.PadTo(hanging);
      at_start = true;
    }
    if (limited)
      Shorten(std::max(width - std::min(width, hanging), kNarrowest), CharsetOf(options), &word);
    if (!at_start) line.PadTo(line.width() + word.gap);
    for (const Piece& piece : word.pieces) line.Add(piece.text, piece.style);
    at_start = false;
  }
  line.WriteTo(options, out);
}

}  // namespace steelyard::render
