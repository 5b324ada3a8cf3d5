// SPDX-License-Identifier: Apache-2.0
//
// A state machine over the tokens: what is open is a stack of brackets, and after each token some
// may follow. Numbers and literals are words, of which only the letters are looked at.

#include "import/json_fault.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace steelyard {
namespace {

// What may stand at a place.
enum class Expected : unsigned char { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd };

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Whether all of it is one value; if not, `at()` is where it no longer is.
  bool Accepts() {
    for (SkipSpace(); at_ < text_.size(); SkipSpace()) {
      if (done_ || !Token()) return false;
    }
    return done_;
  }
  std::size_t at() const { return at_; }

 private:
  void SkipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool Token() {
    switch (text_[at_]) {
      case '{':
        return Open('}', Expected::kKeyOrEnd);
      case '[':
        return Open(']', Expected::kValueOrEnd);
      case '}':
      case ']':
        return Close();
      case ',':
        return Comma();
      case ':':
        return Follows(expected_ == Expected::kColon, Expected::kValue);
      case '"':
        return String();
      default:
        return Word();
    }
  }

  bool TakesValue() const {
    return expected_ == Expected::kValue || expected_ == Expected::kValueOrEnd;
  }
  bool Follows(bool allowed, Expected next) {
    if (!allowed) return false;
    expected_ = next;
    ++at_;
    return true;
  }
  bool Open(char end, Expected next) {
    if (!Follows(TakesValue(), next)) return false;
    open_.push_back(end);
    return true;
  }
  bool Close() {
    const bool may_end = expected_ == Expected::kCommaOrEnd || expected_ == Expected::kValueOrEnd ||
                         expected_ == Expected::kKeyOrEnd;
    if (!may_end || open_.empty() || open_.back() != text_[at_]) return false;
    open_.pop_back();
    ++at_;
    EndValue();
    return true;
  }
  bool Comma() {
    if (open_.empty()) return false;
    return Follows(expected_ == Expected::kCommaOrEnd,
                   open_.back() == '}' ? Expected::kKey : Expected::kValue);
  }
  bool String() {
    const bool key = expected_ == Expected::kKey || expected_ == Expected::kKeyOrEnd;
    if (!key && !TakesValue()) return false;
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    at_ = std::min(end + 1, text_.size());
    if (end >= text_.size()) return false;
    key ? void(expected_ = Expected::kColon) : EndValue();
    return true;
  }
  bool Word() {
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
    };
    const auto* const end = std::find_if_not(text_.begin() + at_, text_.end(), in_word);
    const std::string_view word(text_.begin() + at_, end);
    const bool number = word.find_first_of("0123456789") != std::string_view::npos &&
                        std::isalpha(static_cast<unsigned char>(word[0])) == 0;
    const bool literal = word == "true" || word == "false" || word == "null" || word == "NaN" ||
                         word == "Infinity" || word == "-Infinity";
    if (!TakesValue()) return false;
    if (!number && !literal) {
      const bool may_go_on = !word.empty() && word.end() == text_.end();
      if (may_go_on) at_ = text_.size();
      return false;
    }
    at_ += word.size();
    EndValue();
    return true;
  }
  void EndValue() {
    expected_ = Expected::kCommaOrEnd;
    done_ = open_.empty();
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  Expected expected_ = Expected::kValue;
  std::vector<char> open_;  // the brackets that are to come
  bool done_ = false;
};

}  // namespace

std::optional<std::string> JsonFault(std::string_view text) {
  Scanner scanner(text);
  if (scanner.Accepts()) return std::nullopt;
  const std::string_view before = text.substr(0, scanner.at());
  const auto line = std::ranges::count(before, '\n') + 1;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "it is empty";
  if (scanner.at() >= text.size()) {
    return fmt::format("the JSON is cut: it ends in line {} with brackets open", line);
  }
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1);
  return fmt::format("the JSON is not valid at line {}, column {}", line, column + 1);
}

}  // namespace steelyard
