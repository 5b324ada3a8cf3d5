// SPDX-License-Identifier: Apache-2.0
//
// The characters of a text program: blanks, words, numbers and strings, and where an error is.
//
// Reading stops at the first error. A function that fails says so through Fail and returns false,
// and its callers return false at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "steelyard/error.h"

namespace steelyard {

class TextScanner {
 public:
  TextScanner(std::string_view text, std::string_view file_name)
      : text_(text), file_name_(file_name) {}

  // The character after blanks, 0 at the end of the text. Within ( ) and [ ] a newline is a blank.
  char Peek() {
    SkipBlanks();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  // Whether `text` (not empty) comes next; AcceptWord: as a whole word.
  bool Sees(std::string_view text) {
    SkipBlanks();
    // The first character tells nearly always.
    return position_ < text_.size() && text_[position_] == text.front() &&
           text_.substr(position_).starts_with(text);
  }
  bool Accept(std::string_view text);
  bool Accept(char c) {
    SkipBlanks();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    if (c == '(' || c == '[') ++nesting_;
    if (c == ')' || c == ']') --nesting_;
    return true;
  }
  bool AcceptWord(std::string_view word);
  bool Expect(std::string_view text, std::string_view after);

  // What comes next, empty when it is something else: a word, or a path with its dots.
  std::string_view PeekWord();
  std::string_view Word();
  std::string_view Path();
  // The operator's name: words, dots and "::".
  std::string_view OpName();
  // A quoted string, without its quotes and escapes.
  bool String(std::string& out, char quote = '"');
  // Digits without a sign, at most `limit`.
  bool Unsigned(std::int64_t limit, std::int64_t& out);
  // Digits, and a sign before them, that the end of a list follows at once: no larger expression.
  // Takes nothing otherwise.
  bool AcceptPlainNumber(std::int64_t& out);
  // Whether a number with a point or an exponent comes next (or inf or nan), and its value.
  bool SeesReal();
  bool Real(double& out);

  // Skips empty lines and comments; false at the end of the text.
  bool NextStatement();
  // The statement must end here.
  bool ExpectLineEnd();

  std::size_t position() const { return position_; }
  // Records the error at `position` (of Fail: here) and returns false.
  bool FailAt(std::size_t position, std::string message, const std::string& hint);
  bool Fail(std::string message, const std::string& hint) {
    Peek();
    return FailAt(position_, std::move(message), hint);
  }
  // "found ...": what stands here, for a message.
  std::string Found();
  bool failed() const { return failed_; }
  Error error() const { return error_; }

 private:
  void SkipBlanks() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    // Other blanks and comments begin with characters up to '#'.
    if (position_ < text_.size() && text_[position_] > '#') return;
    SkipBlanksFromHere();
  }
  void SkipBlanksFromHere();
  std::size_t RealEnd() const;
  bool Escape(char& out);

  std::string_view text_;
  std::string_view file_name_;
  std::size_t position_ = 0;
  int nesting_ = 0;  // of ( ) and [ ]
  bool failed_ = false;
  Error error_;
};

}  // namespace steelyard
