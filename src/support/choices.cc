// SPDX-License-Identifier: Apache-2.0
#include "support/choices.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steelyard/error.h"

namespace steelyard {
namespace {

// A word this many letters from another is not a misspelling of it, nor is one of which more than
// a third is wrong.
constexpr std::size_t kMostMistakes = 2;
constexpr std::size_t kLettersPerMistake = 3;

// Damerau's distance, in which no letter is changed twice: letters that are missing, in excess or
// others, and neighbours that have changed places.
std::size_t Mistakes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Whether they are one word but for which letters are capitals.
bool SameLetters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string DigitsOf(std::string_view word) {
  std::string digits;
  std::ranges::copy_if(word, std::back_inserter(digits),
                       [](char c) { return '0' <= c && c <= '9'; });
  return digits;
}

}  // namespace

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> words) {
  for (std::string_view candidate : words) {
    if (SameLetters(word, candidate)) return candidate;
  }
  std::string_view nearest;
  std::size_t least = std::min(kMostMistakes, word.size() / kLettersPerMistake) + 1;
  for (std::string_view candidate : words) {
    const std::size_t mistakes = Mistakes(word, candidate);
    if (mistakes >= least) continue;
    least = mistakes;
    nearest = candidate;
  }
  return nearest;
}

std::string HintOfNames(std::string_view word, std::span<const std::string_view> names) {
  // A number is rarely a slip for another: float8 is not a misspelled float32.
  const std::string_view meant = NearestWord(word, names);
  if (!meant.empty() && DigitsOf(word) == DigitsOf(meant)) {
    return fmt::format("Did you mean {}?", meant);
  }
  if (names.empty()) return "There are none.";
  return fmt::format("{}: {}.", names.size() == 1 ? "So far there is only" : "There are",
                     fmt::join(names, ", "));
}

Error NoSuch(std::string_view what, std::string_view word, std::span<const std::string_view> names,
             std::string where) {
  return UsageError(fmt::format("there is no {}{}\"{}\"", what, what.empty() ? "" : " ", word),
                    std::move(where), HintOfNames(word, names));
}

}  // namespace steelyard
