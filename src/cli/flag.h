// SPDX-License-Identifier: Apache-2.0
//
// Flags are rows: parsing, help and docs/cli.md all read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "steelyard/error.h"

namespace steelyard::cli {

// Where a flag's value goes, which also says what it may be: a switch, a whole number that is not
// negative, a number that is not, one word, or one word each time the flag is given.
using Field = std::variant<bool*, int*, std::optional<std::int64_t>*, std::optional<double>*,
                           std::string*, std::vector<std::string>*>;

// Whether a command can do without.
enum class Need : unsigned char { kOptional, kRequired };

struct Flag {
  std::string_view name;             // "--output"; without dashes for what is told by its place.
  std::string_view short_name = {};  // "-o"
  std::string_view arg = {};         // What the help calls its value; empty for a switch.
  std::string_view help;             // One phrase.
  Field field;                       // What stands there beforehand is the default.
  std::vector<std::string_view> choices = {};  // All the words it may be; empty: any.
  Need need = Need::kOptional;
  std::string_view heading = {};             // Under which help lists it, with its neighbours.
  std::int64_t least = 0, most = INT64_MAX;  // Of a whole number.
  bool takes_list = false;  // Of words, each time it is given: commas separate them.

  bool is_positional() const { return !name.starts_with('-'); }
  bool is_switch() const { return std::holds_alternative<bool*>(field); }
  bool is_repeatable() const { return std::holds_alternative<std::vector<std::string>*>(field); }
  bool is_text() const { return is_repeatable() || std::holds_alternative<std::string*>(field); }
};

// The parts of "fp32,bf16"; none of an empty text.
std::vector<std::string_view> PartsOf(std::string_view text);

// Puts the flags from the `first` on under a heading.
void PutUnder(std::string_view heading, std::size_t first, std::vector<Flag>* flags);

// Puts `value` where the flag says. Returns a usage error that names the flag when it cannot.
Status SetField(const Flag& flag, std::string_view value);

// The names of the flags but this one.
std::vector<std::string_view> NamesBeside(std::string_view name, std::span<const Flag> flags);

// The first of the given names that is one of `names`; empty if none is.
std::string_view FirstOf(std::span<const std::string_view> given,
                         std::span<const std::string_view> names);

// What the flag is when it is not given, as text; empty where that is nothing.
std::string DefaultText(const Flag& flag);

}  // namespace steelyard::cli
