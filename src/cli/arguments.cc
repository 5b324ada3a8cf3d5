// SPDX-License-Identifier: Apache-2.0
//
// The only file that knows CLI11, which is slow to compile. It splits words into flags and values;
// what a value may be, and how a mistake is told, is decided by the rows.
#include "cli/arguments.h"

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/CLI.hpp>  // IWYU pragma: keep: parts that App.hpp needs and does not include
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/flag.h"
#include "steelyard/error.h"
#include "support/choices.h"

namespace steelyard::cli {
namespace {

std::string SeeHelp(const CommandInfo& command) {
  return fmt::format("See steelyard {} --help.", command.name);
}

// Feeds CLI11 from one row.
CLI::Option* AddRow(const Flag& flag, CLI::App* app, Status* status) {
  std::string names(flag.name);
  if (!flag.short_name.empty()) names.append(",").append(flag.short_name);
  const auto set = [&flag, status](const CLI::results_t& values) {
    if (!flag.is_repeatable() && values.size() > 1 && *status) {
      *status =
          Unexpected(UsageError(fmt::format("it is given twice: {} and {}", values[0], values[1]),
                                std::string(flag.name), "Leave one of them out."));
    }
    for (const std::string& value : values) {
      if (*status) *status = SetField(flag, value);
    }
    return true;
  };
  if (flag.is_switch()) {
    return app->add_flag(names, *std::get<bool*>(flag.field));
  }
  CLI::Option* option = app->add_option(names, set);
  option->type_name(std::string(flag.arg))->required(flag.need == Need::kRequired);
  // One value each time, or a repeatable flag would take the file name that follows it.
  return option->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

// Whether CLI11 needs to know of the row: it compares each option with all that it knows, which for
// the flags of `weigh` took longer than reading a small model. Short names may stand together.
bool IsAskedFor(const Flag& flag, std::span<const std::string> words) {
  if (flag.need == Need::kRequired || !flag.name.starts_with('-')) return true;
  return std::ranges::any_of(words, [&](const std::string& word) {
    const bool is_short = word.starts_with('-') && !word.starts_with("--");
    return is_short ? !flag.short_name.empty() : word.starts_with(flag.name);
  });
}

Error UnknownWord(const CommandInfo& command, std::span<const Flag> flags,
                  const std::string& word) {
  if (!word.starts_with('-')) {
    return UsageError(fmt::format("\"{}\" is one word too many", word), {}, SeeHelp(command));
  }
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::string_view meant = NearestWord(name, names);
  return UsageError(fmt::format("steelyard {} has no option {}", command.name, name), {},
                    meant.empty() ? SeeHelp(command) : fmt::format("Did you mean {}?", meant));
}

// What CLI11 found wrong, in our words.
Error Translate(const CommandInfo& command, const CLI::ParseError& problem) {
  const std::string_view what = problem.what();
  const std::string name(what.substr(0, what.find_first_of(": ")));
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    return UsageError(fmt::format("{} is missing", name), {},
                      fmt::format("Example: {}.", command.example));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
    return UsageError(fmt::format("{} needs a value", name), {}, SeeHelp(command));
  }
  return UsageError(std::string(what), {}, SeeHelp(command));
}

}  // namespace

Result<Asked> ReadArguments(const CommandInfo& command, std::span<const Flag> flags,
                            std::span<const std::string> words,
                            std::vector<std::string_view>* given) {
  CLI::App app;
  app.set_help_flag("-h,--help");
  app.allow_extras();
  Status status;
  std::vector<const CLI::Option*> options;  // null: not known
  options.reserve(flags.size());
  for (const Flag& flag : flags) {
    options.push_back(IsAskedFor(flag, words) ? AddRow(flag, &app, &status) : nullptr);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Asked::kHelp;
  } catch (const CLI::ParseError& problem) {
    return Unexpected(Translate(command, problem));
  }
  std::vector<std::string> rest = app.remaining();
  std::erase(rest, "--");  // marks that what follows is no option
  if (!rest.empty()) {
    // An unknown option takes no value, so the word after it is in excess too.
    const auto option =
        std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with('-'); });
    return Unexpected(UnknownWord(command, flags, option == rest.end() ? rest[0] : *option));
  }
  SY_RETURN_IF_ERROR(std::move(status));
  for (std::size_t i = 0; given != nullptr && i < flags.size(); ++i) {
    if (options[i] != nullptr && options[i]->count() > 0) given->push_back(flags[i].name);
  }
  return Asked::kRun;
}

}  // namespace steelyard::cli
