// SPDX-License-Identifier: Apache-2.0

#include "pass/parameter_pattern.h"

#include <cstddef>

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

std::vector<bool> ParametersMatching(const Program& program, std::string_view pattern) {
  std::vector<bool> matching(program.values.size(), false);
  for (const NamedTensor& parameter : program.parameters) {
    if (MatchesParameter(pattern, program.text(parameter.name))) matching[parameter.value] = true;
  }
  return matching;
}

}  // namespace steelyard
