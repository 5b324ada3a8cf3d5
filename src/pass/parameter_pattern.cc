// SPDX-License-Identifier: Apache-2.0
#include "pass/parameter_pattern.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <utility>

namespace steelyard {

// The usual matching of wildcards: where a letter fits no more, the last * takes one more.
bool MatchesPattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool MatchesParameter(std::string_view pattern, std::string_view name) {
  for (std::size_t end = name.size(); end != std::string_view::npos && end > 0;
       end = name.rfind('.', end - 1)) {
    if (MatchesPattern(pattern, name.substr(0, end))) return true;
  }
  return false;
}

Error NoModuleMatches(const Program& program, std::string_view pattern, std::string_view flag) {
  const auto refusal = [&](std::string hint) {
    return NotFound(fmt::format("no module is called \"{}\"", pattern), std::string(flag),
                    std::move(hint));
  };
  for (const Module& module : program.modules) {
    const std::string_view path = program.text(module.path);
    for (std::size_t end = path.find('.'); end != std::string_view::npos;
         end = path.find('.', end + 1)) {
      if (!MatchesPattern(pattern, path.substr(end + 1))) continue;
      return refusal(fmt::format("Did you mean '{}{}'?", path.substr(0, end + 1), pattern));
    }
  }
  return refusal("A pattern is the path of a module, with * and ?.");
}

Result<std::vector<bool>> ModulesMatching(const Program& program,
                                          std::span<const std::string> patterns,
                                          std::string_view flag) {
  std::vector<bool> named(program.modules.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t m = 1; m < named.size(); ++m) {
      if (!MatchesPattern(pattern, program.text(program.modules[m].path))) continue;
      named[m] = any = true;
    }
    if (!any) return Unexpected(NoModuleMatches(program, pattern, flag));
  }
  return named;
}

std::vector<bool> ParametersMatching(const Program& program, std::string_view pattern) {
  std::vector<bool> matching(program.values.size(), false);
  for (const NamedTensor& parameter : program.parameters) {
    if (MatchesParameter(pattern, program.text(parameter.name))) matching[parameter.value] = true;
  }
  return matching;
}

}  // namespace steelyard
