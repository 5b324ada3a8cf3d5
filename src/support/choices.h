// SPDX-License-Identifier: Apache-2.0
//
// Things that are chosen by their names, and what to say to someone who chose none of them. Every
// message of this kind is made here, so that all read alike.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"

namespace steelyard {

// The names of rows, in their order.
template <class Rows>
std::vector<std::string_view> NamesOf(const Rows& rows) {
  std::vector<std::string_view> names;
  names.reserve(std::size(rows));
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

// Returns "a, b, c and 4 more": what `name` calls the first `most` of `count` things.
template <class Name>
std::string Listed(std::size_t count, std::size_t most, const Name& name) {
  std::string text;
  for (std::size_t i = 0; i < count && i < most; ++i) {
    text.append(i == 0 ? "" : ", ").append(name(i));
  }
  if (count > most) text.append(" and ").append(std::to_string(count - most)).append(" more");
  return text;
}

// Returns the one of `words` that `word` is most likely a misspelling of, or nothing.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> words);

// Returns a hint for someone who wrote `word` where one of `names` is asked for: "Did you mean
// graph?", else "There are: eager, graph."
std::string HintOfNames(std::string_view word, std::span<const std::string_view> names);

// Returns a usage error: `there is no runtime "grahp". Did you mean graph?`. `what` may be empty
// where `where` says it ("--runtime").
Error NoSuch(std::string_view what, std::string_view word, std::span<const std::string_view> names,
             std::string where = {});

}  // namespace steelyard
