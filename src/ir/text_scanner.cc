// SPDX-License-Identifier: Apache-2.0
//
// Decides where words, numbers and strings end: a newline is a blank only within brackets, and a
// number is real by its point or exponent. An error is the first one, with its line and a caret
// under the place; lines are counted only then, so that reading does not pay for it.

#include "ir/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ir/text_words.h"

namespace steelyard {
namespace {

// How much of a line an error shows on either side of its place.
constexpr std::size_t kShownAround = 60;

// The characters around `position` in its line, and a caret under it.
std::string Excerpt(std::string_view line, std::size_t column) {
  const std::size_t begin = column > kShownAround ? column - kShownAround : 0;
  std::string shown(line.substr(begin, 2 * kShownAround));
  // A tab or a control character would move the caret away from its place.
  std::ranges::replace_if(shown, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return "\n  " + shown + "\n  " + std::string(column - begin, ' ') + "^";
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void TextScanner::SkipBlanksFromHere() {
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
      if (position_ == text_.size()) return;
    }
    if (text_[position_] == '\n' && nesting_ == 0) return;
    if (text_[position_] != '\n' && c != ' ' && c != '\t' && c != '\r') return;
  }
}

bool TextScanner::Accept(std::string_view text) {
  if (text.size() == 1) return Accept(text.front());
  if (!Sees(text)) return false;
  position_ += text.size();
  return true;
}

bool TextScanner::AcceptWord(std::string_view word) {
  if (!Sees(word) || PeekWord() != word) return false;
  position_ += word.size();
  return true;
}

bool TextScanner::Expect(std::string_view text, std::string_view after) {
  if (Accept(text)) return true;
  return Fail("expected '" + std::string(text) + "' after " + std::string(after) + ", " + Found(),
              "A line reads `%y: f32[2,8] = aten::linear(%x, %w) in encoder`.");
}

std::string_view TextScanner::PeekWord() {
  SkipBlanks();
  if (position_ >= text_.size() || !IsWordStart(text_[position_])) return {};
  std::size_t end = position_;
  while (end < text_.size() && IsWordChar(text_[end])) ++end;
  return text_.substr(position_, end - position_);
}

std::string_view TextScanner::Word() {
  const std::string_view word = PeekWord();
  position_ += word.size();
  return word;
}

std::string_view TextScanner::Path() {
  SkipBlanks();
  const std::size_t begin = position_;
  while (position_ < text_.size() && IsPathChar(text_[position_])) ++position_;
  return text_.substr(begin, position_ - begin);
}

std::string_view TextScanner::OpName() {
  SkipBlanks();
  const std::size_t begin = position_;
  while (position_ < text_.size()) {
    if (IsPathChar(text_[position_])) {
      ++position_;
    } else if (text_.substr(position_).starts_with("::")) {
      position_ += 2;
    } else {
      break;
    }
  }
  return text_.substr(begin, position_ - begin);
}

bool TextScanner::Escape(char& out) {
  const std::string_view rest = text_.substr(position_);
  const char c = rest.empty() ? '\0' : rest[0];
  if (c == 'x' && rest.size() >= 3 && HexDigit(rest[1]) >= 0 && HexDigit(rest[2]) >= 0) {
    out = static_cast<char>(HexDigit(rest[1]) * 16 + HexDigit(rest[2]));
    position_ += 3;
    return true;
  }
  if (c != '"' && c != '\\' && c != 'n' && c != 't') {
    return FailAt(position_, "unknown escape in a string",
                  R"(Known are \", \\, \n, \t and \x followed by two hexadecimal digits.)");
  }
  out = c == 'n' ? '\n' : c == 't' ? '\t' : c;
  ++position_;
  return true;
}

bool TextScanner::String(std::string& out, char quote) {
  out.clear();
  const std::size_t begin = position_;
  if (!Expect({&quote, 1}, "this")) return false;
  while (position_ < text_.size() && text_[position_] != '\n') {
    const std::size_t plain = position_;
    while (position_ < text_.size() && text_[position_] != quote && text_[position_] != '\\' &&
           text_[position_] != '\n') {
      ++position_;
    }
    out.append(text_.substr(plain, position_ - plain));
    if (position_ == text_.size() || text_[position_] == '\n') break;
    char c = text_[position_++];
    if (c == quote) return true;
    if (!Escape(c)) return false;
    out.push_back(c);
  }
  return FailAt(begin, "the string does not end", "A string ends on its line, with its quote.");
}

bool TextScanner::Unsigned(std::int64_t limit, std::int64_t& out) {
  if (!IsDigit(Peek())) return Fail("expected a number, " + Found(), "A number is digits only.");
  const char* begin = text_.data() + position_;
  const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), out);
  if (code != std::errc() || out > limit) {
    return Fail("the number is too large", "It may be at most " + std::to_string(limit) + ".");
  }
  position_ += static_cast<std::size_t>(end - begin);
  return true;
}

bool TextScanner::AcceptPlainNumber(std::int64_t& out) {
  constexpr std::int64_t kLeast = -(std::int64_t{1} << 32);  // far from what a Dim cannot hold
  const char first = Peek();
  if (!IsDigit(first) && first != '-') return false;
  const char* const last = text_.data() + text_.size();
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text_.data() + position_, last, number);
  if (code != std::errc() || end == last || number < kLeast) return false;
  if (*end != ',' && *end != ']' && *end != ')' && *end != '}') return false;
  position_ = static_cast<std::size_t>(end - text_.data());
  out = number;
  return true;
}

// The end of a number with a point or an exponent that begins here; position_ where there is none.
std::size_t TextScanner::RealEnd() const {
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  std::size_t i = position_ + (at(position_) == '-' ? 1 : 0);
  const std::string_view rest = text_.substr(std::min(i, text_.size()));
  if (rest.starts_with("inf") || rest.starts_with("nan")) {
    return IsWordChar(at(i + 3)) ? position_ : i + 3;
  }
  const std::size_t digits = i;
  while (IsDigit(at(i))) ++i;
  if (i == digits) return position_;
  bool real = false;
  if (at(i) == '.' && at(i + 1) != '.') {
    real = true;
    do ++i;
    while (IsDigit(at(i)));
  }
  if (at(i) == 'e') {
    std::size_t exponent = i + 1;
    if (at(exponent) == '+' || at(exponent) == '-') ++exponent;
    if (IsDigit(at(exponent))) {
      real = true;
      for (i = exponent; IsDigit(at(i));) ++i;
    }
  }
  return real ? i : position_;
}

bool TextScanner::SeesReal() {
  SkipBlanks();
  return RealEnd() > position_;
}

bool TextScanner::Real(double& out) {
  SkipBlanks();
  const std::size_t end = RealEnd();
  const auto result = std::from_chars(text_.data() + position_, text_.data() + end, out);
  if (result.ec != std::errc() || result.ptr != text_.data() + end) {
    return Fail("the number does not fit a double", "Its exponent may be at most 308.");
  }
  position_ = end;
  return true;
}

bool TextScanner::NextStatement() {
  while (Peek() == '\n') ++position_;
  return position_ < text_.size();
}

bool TextScanner::ExpectLineEnd() {
  const char c = Peek();
  if (c == '\n' || position_ >= text_.size()) return true;
  return Fail("expected the end of the line, " + Found(), "A statement is a line of its own.");
}

std::string TextScanner::Found() {
  SkipBlanks();
  if (position_ >= text_.size()) return "found the end of the file";
  if (text_[position_] == '\n') return "found the end of the line";
  std::string_view shown = PeekWord();
  if (shown.empty()) shown = text_.substr(position_, 1);
  std::string found = "found ";
  AppendQuoted(shown.substr(0, kShownAround), found);
  return found;
}

bool TextScanner::FailAt(std::size_t position, std::string message, const std::string& hint) {
  if (failed_) return false;
  failed_ = true;
  position = std::min(position, text_.size());
  const std::string_view before = text_.substr(0, position);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::size_t column = position - line_begin;
  const std::string_view shown = text_.substr(line_begin, text_.find('\n', position) - line_begin);
  std::string where(file_name_);
  where.append(where.empty() ? "line " : ":").append(std::to_string(line));
  where.append(":").append(std::to_string(column + 1));
  error_ = InvalidInput(std::move(message), std::move(where), hint + Excerpt(shown, column));
  return false;
}

}  // namespace steelyard
