// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_command.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"

namespace steelyard::cli {

CompareCommand::CompareCommand()
    : output_({"text", "json", "csv"}, {ComparisonTables().begin(), ComparisonTables().end()}) {}

std::vector<Flag> CompareCommand::Flags() {
  std::vector<Flag> flags = {
      {.name = "A",
       .help = "a model's file, or a report that steelyard weigh --format json wrote",
       .field = &a_,
       .need = Need::kRequired},
      {.name = "B", .help = "the other", .field = &b_, .need = Need::kRequired}};
  // Of a model's own flags all but its place, and what looks for a size.
  std::vector<Flag> of_models;
  weigh_.AddModelFlags(&of_models);
  for (Flag& flag : of_models) {
    if (!flag.is_positional() && flag.name != "--fit") flags.push_back(std::move(flag));
  }
  const std::size_t first = flags.size();
  flags.push_back({.name = "--depth",
                   .arg = "N",
                   .help = "levels of the module tree to show",
                   .field = &depth_});
  flags.push_back({.name = "--top",
                   .arg = "N",
                   .help = "modules and operators to show of those that differ",
                   .field = &top_});
  output_.AddFlags(&flags);
  PutUnder("The comparison", first, &flags);
  return flags;
}

// The flags of weighing that the command line holds.
std::vector<std::string> CompareCommand::AskedOfModels() {
  std::vector<Flag> of_models;
  weigh_.AddModelFlags(&of_models);
  std::vector<std::string> asked;
  for (const Flag& flag : of_models) {
    const std::array name = {flag.name};
    if (!FirstGiven(name).empty()) asked.emplace_back(flag.name);
  }
  return asked;
}

Status CompareCommand::Run() {
  SY_ASSIGN_OR_RETURN(const std::string format, output_.Format());
  SY_ASSIGN_OR_RETURN(const WeighOptions weigh, weigh_.Options());
  SY_ASSIGN_OR_RETURN(const report::Document document, Compare({.a = a_,
                                                                .b = b_,
                                                                .weigh = weigh,
                                                                .asked = AskedOfModels(),
                                                                .depth = depth_,
                                                                .top = top_}));
  SY_ASSIGN_OR_RETURN(const std::string text, report::Render(document, format, output_.Look()));
  return output_.Write(text);
}

}  // namespace steelyard::cli
