// SPDX-License-Identifier: Apache-2.0

#include "pass/recompute.h"

#include <fmt/core.h>

#include <string_view>
#include <vector>

#include "pass/outline.h"
#include "pass/parameter_pattern.h"

namespace steelyard {
namespace {

constexpr std::string_view kFlag = "--recompute";

}  // namespace

Result<Program> Recompute(Program program, const TrainOptions& options) {
  if (options.recompute.empty()) return program;
  SY_ASSIGN_OR_RETURN(const std::vector<bool> named,
                      ModulesMatching(program, options.recompute, kFlag));
  SY_ASSIGN_OR_RETURN(const std::vector<CallNodes> regions, CallNodesOf(program, named, kFlag));
  if (regions.empty()) return Unexpected(NothingRunsIn(kFlag));
  program.notes.push_back(program.strings.Intern(
      fmt::format("--recompute: {} checkpointed, which the backward pass runs again where it needs "
                  "what they computed",
                  regions.size() == 1 ? "1 call of a module is"
                                      : fmt::format("{} calls of modules are", regions.size()))));
  Outline(program, regions, "steelyard::checkpoint",
          [&](const CallNodes&) { return Argument::OfBool(options.recompute_reentrant); });
  return program;
}

}  // namespace steelyard
