// SPDX-License-Identifier: Apache-2.0

#include "pass/freeze.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pass/parameter_pattern.h"

namespace steelyard {

Result<Program> Freeze(Program program, const TrainOptions& options) {
  for (const std::string& pattern : options.freeze) {
    const std::vector<bool> frozen = ParametersMatching(program, pattern);
    if (std::ranges::find(frozen, true) == frozen.end()) {
      return Unexpected(NotFound(fmt::format("no parameter is called \"{}\"", pattern), "--freeze",
                                 "A pattern is a name of a parameter or module, with * and ?."));
    }
    for (ValueId id = 0; id < frozen.size(); ++id) {
      if (frozen[id]) program.values[id].requires_grad = false;
    }
  }
  return program;
}

}  // namespace steelyard
