// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"

namespace steelyard::cli {
namespace {

constexpr std::size_t kLongestLine = 2000;

// A word this many letters from another is not a misspelling of it.
constexpr std::size_t kMostMistakes = 2;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Levenshtein's distance.
std::size_t Mistakes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

int ExitStatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound:
      return kRefused;
    case ErrorCode::kUsage:
      return kMisused;
    case ErrorCode::kInternal:
      return kDefect;
  }
  return kDefect;
}

std::string ErrorLine(const Error& error) {
  Error told = error;
  told.hint.resize(std::min(told.hint.find('\n'), told.hint.size()));
  std::string line = "steelyard: " + Describe(told);
  std::ranges::replace_if(line, IsControl, ' ');
  // The second half of a control character in UTF-8 (U+0080 to U+009F), which terminals obey too.
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool control = line[i] == '\xc2' && static_cast<unsigned char>(line[i + 1]) < 0xa0;
    if (control) line[i] = line[i + 1] = ' ';
  }
  if (line.size() > kLongestLine) line.resize(kLongestLine);
  return line + "\n";
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> words) {
  std::string_view nearest;
  std::size_t least = kMostMistakes + 1;
  for (std::string_view candidate : words) {
    const std::size_t mistakes = Mistakes(word, candidate);
    if (mistakes >= least) continue;
    least = mistakes;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace steelyard::cli
