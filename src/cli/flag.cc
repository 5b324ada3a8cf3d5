// SPDX-License-Identifier: Apache-2.0
//
// Decides which values a flag takes: one of its choices where it has any, no empty text, and
// numbers that are read to their end and are not less than 0. A refusal is a usage error that names
// the flag.

#include "cli/flag.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "steelyard/error.h"
#include "support/choices.h"

namespace steelyard::cli {
namespace {

// Of a whole number.
Error OutOf(const Flag& flag, std::string_view value, std::string_view how, std::int64_t limit) {
  return UsageError(
      fmt::format("{} is {} than {}", value, how, limit), std::string(flag.name),
      flag.most == INT64_MAX
          ? fmt::format("It is a whole number from {} on.", flag.least)
          : fmt::format("It is a whole number from {} to {}.", flag.least, flag.most));
}

template <class Number>
Status SetNumber(const Flag& flag, std::string_view value, Number* field) {
  const char* end = value.data() + value.size();
  const auto [stopped, problem] = std::from_chars(value.data(), end, *field);
  constexpr bool kWhole = std::is_integral_v<Number>;
  if (problem == std::errc::result_out_of_range && !value.starts_with('-')) {
    return Unexpected(
        UsageError(fmt::format("{} is too {} a number", value, kWhole ? "large" : "large or small"),
                   std::string(flag.name)));
  }
  const bool number = problem == std::errc() && stopped == end;
  if constexpr (kWhole) {
    if (number && *field < flag.least) return Unexpected(OutOf(flag, value, "less", flag.least));
    if (number && *field > flag.most) return Unexpected(OutOf(flag, value, "more", flag.most));
  } else if (number && *field < 0) {
    return Unexpected(UsageError(fmt::format("{} is less than 0", value), std::string(flag.name),
                                 "It is a number from 0 on."));
  }
  if (!number || !(*field >= 0)) {
    return Unexpected(UsageError(
        fmt::format("\"{}\" is not a {}", value, kWhole ? "whole number" : "number from 0 on"),
        std::string(flag.name),
        fmt::format("Write it as {} {}.", flag.name, kWhole ? "16" : "0.5")));
  }
  return {};
}

// Puts a value into a field of any kind.
struct Setter {
  const Flag& flag;
  std::string_view value;

  Status operator()(bool* field) const {
    *field = true;
    return {};
  }
  Status operator()(int* field) const { return SetNumber(flag, value, field); }
  Status operator()(std::optional<std::int64_t>* field) const {
    return SetNumber(flag, value, &field->emplace());
  }
  Status operator()(std::optional<double>* field) const {
    return SetNumber(flag, value, &field->emplace());
  }
  Status operator()(std::string* field) const {
    *field = value;
    return {};
  }
  Status operator()(std::vector<std::string>* field) const {
    if (!flag.takes_list) {
      field->emplace_back(value);
      return {};
    }
    for (const std::string_view part : PartsOf(value)) {
      if (part.empty()) {
        return Unexpected(UsageError(fmt::format("\"{}\" names nothing beside a comma", value),
                                     std::string(flag.name),
                                     fmt::format("Write it as {} A,B.", flag.name)));
      }
      field->emplace_back(part);
    }
    return {};
  }
};

}  // namespace

std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

void PutUnder(std::string_view heading, std::size_t first, std::vector<Flag>* flags) {
  for (std::size_t i = first; i < flags->size(); ++i) (*flags)[i].heading = heading;
}

Status SetField(const Flag& flag, std::string_view value) {
  const bool known =
      flag.choices.empty() || std::ranges::find(flag.choices, value) != flag.choices.end();
  if (!known) {
    return Unexpected(NoSuch("", value, flag.choices, std::string(flag.name)));
  }
  if (value.empty() && flag.is_text()) {
    return Unexpected(UsageError("its value is empty", std::string(flag.name)));
  }
  return std::visit(Setter{flag, value}, flag.field);
}

std::vector<std::string_view> NamesBeside(std::string_view name, std::span<const Flag> flags) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) {
    if (flag.name != name) names.push_back(flag.name);
  }
  return names;
}

std::string_view FirstOf(std::span<const std::string_view> given,
                         std::span<const std::string_view> names) {
  const auto found = std::ranges::find_first_of(given, names);
  return found == given.end() ? std::string_view() : *found;
}

std::string DefaultText(const Flag& flag) {
  if (const auto* number = std::get_if<int*>(&flag.field)) return fmt::format("{}", **number);
  if (const auto* word = std::get_if<std::string*>(&flag.field)) return **word;
  return {};
}

}  // namespace steelyard::cli
