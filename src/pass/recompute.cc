// SPDX-License-Identifier: Apache-2.0

#include "pass/recompute.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <vector>

#include "pass/outline.h"
#include "pass/parameter_pattern.h"

namespace steelyard {
namespace {

// Which modules some pattern names. Nothing names the model itself.
Result<std::vector<bool>> NamedModules(const Program& program, const TrainOptions& options) {
  std::vector<bool> named(program.modules.size(), false);
  for (const std::string& pattern : options.recompute) {
    bool any = false;
    for (std::size_t m = 1; m < named.size(); ++m) {
      if (!MatchesPattern(pattern, program.text(program.modules[m].path))) continue;
      named[m] = any = true;
    }
    if (!any) return Unexpected(NoModuleMatches(program, pattern, "--recompute"));
  }
  return named;
}

}  // namespace

Result<Program> Recompute(Program program, const TrainOptions& options) {
  if (options.recompute.empty()) return program;
  SY_ASSIGN_OR_RETURN(const std::vector<bool> named, NamedModules(program, options));
  SY_ASSIGN_OR_RETURN(const std::vector<CallNodes> regions,
                      CallNodesOf(program, named, "--recompute"));
  if (regions.empty()) {
    return Unexpected(InvalidInput("no operator runs in a module of that name", "--recompute",
                                   "A container, such as a ModuleList, is never called: name what "
                                   "it contains, as in 'encoder.layer.*'."));
  }
  program.notes.push_back(program.strings.Intern(
      fmt::format("--recompute: the backward pass runs {} {} again", regions.size(),
                  regions.size() == 1 ? "call of a module" : "calls of modules")));
  Outline(program, regions, "steelyard::checkpoint",
          [&](const CallNodes&) { return Argument::OfBool(options.recompute_reentrant); });
  return program;
}

}  // namespace steelyard
