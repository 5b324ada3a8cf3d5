// SPDX-License-Identifier: Apache-2.0
//
// Decides what help looks like: 80 columns, explanations in a column of their own, a name that is
// too long for its column on a line by itself. Choices and defaults are appended from the flag's
// row, so that no phrase repeats them.

#include "cli/help.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/flag.h"
#include "steelyard/report.h"

namespace steelyard::cli {
namespace {

constexpr std::size_t kWidth = 80;       // of help, as all programs write it
constexpr std::size_t kTextColumn = 26;  // where explanations begin

// Appends `name`, then `text` from its column on, on as many lines as it takes.
void AppendEntry(std::string_view name, std::string_view text, std::string* out) {
  std::string line = fmt::format("  {}", name);
  if (line.size() + 2 > kTextColumn) {
    out->append(line).append("\n");
    line.clear();
  }
  line.resize(kTextColumn, ' ');
  bool first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!first && line.size() + 1 + word.size() > kWidth) {
      out->append(line).append("\n");
      line.assign(kTextColumn, ' ');
      first = true;
    }
    line.append(first ? "" : " ").append(word);
    first = false;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  out->append(line).append("\n");
}

}  // namespace

std::string FlagText(const Flag& flag) {
  if (flag.is_positional()) return std::string(flag.name);
  std::string text;
  if (!flag.short_name.empty()) text.append(flag.short_name).append(", ");
  text.append(flag.name);
  if (!flag.arg.empty()) text.append(" ").append(flag.arg);
  return text;
}

std::string FlagHelp(const Flag& flag) {
  std::string text(flag.help);
  if (flag.choices.size() == 1) return text + fmt::format(" (so far only {})", flag.choices[0]);
  if (!flag.choices.empty()) text += fmt::format(": {}", fmt::join(flag.choices, ", "));
  if (const std::string standard = DefaultText(flag); !standard.empty()) {
    text += fmt::format(" (default: {})", standard);
  }
  return text;
}

std::string UsageOf(const CommandInfo& command, std::span<const Flag> flags) {
  std::string usage = fmt::format("steelyard {}", command.name);
  for (const Flag& flag : flags) {
    if (!flag.is_positional()) continue;
    const bool required = flag.need == Need::kRequired;
    usage += required ? fmt::format(" {}", flag.name) : fmt::format(" [{}]", flag.name);
  }
  const bool has_options =
      std::ranges::any_of(flags, [](const Flag& flag) { return !flag.is_positional(); });
  return has_options ? usage + " [OPTION...]" : usage;
}

std::string HelpOf(const CommandInfo& command, std::span<const Flag> flags) {
  std::string out = fmt::format("{} {}.\n\nusage: {}\n\n", command.name, command.summary,
                                UsageOf(command, flags));
  std::string_view heading;
  for (const Flag& flag : flags) {
    if (flag.heading != heading) {
      heading = flag.heading;
      out += fmt::format("\n{}:\n", heading);
    }
    AppendEntry(FlagText(flag), FlagHelp(flag), &out);
  }
  if (!heading.empty()) out += '\n';
  AppendEntry("-h, --help", "says this", &out);
  out += fmt::format("\nexample: {}\n", command.example);
  return out;
}

std::string Overview() {
  std::string out = fmt::format(
      "Steelyard {} tells what a deep-learning model costs, without running it.\n\n"
      "usage: steelyard COMMAND [OPTION...]\n\n",
      kVersion);
  for (const CommandInfo& command : Commands()) {
    if (command.audience == Audience::kUsers) AppendEntry(command.name, command.summary, &out);
  }
  AppendEntry("COMMAND --help", "says what a command takes", &out);
  AppendEntry("--version", "says which Steelyard this is", &out);
  out += fmt::format("\nexample: {}\n", Commands().front().example);
  return out;
}

}  // namespace steelyard::cli
