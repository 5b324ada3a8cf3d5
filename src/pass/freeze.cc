// SPDX-License-Identifier: Apache-2.0

#include "pass/freeze.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pass/parameter_pattern.h"

namespace steelyard {

namespace {

bool TrainsAny(const Program& program) {
  return std::ranges::any_of(program.parameters, [&](const NamedTensor& parameter) {
    return program.values[parameter.value].requires_grad;
  });
}

}  // namespace

Result<Program> Freeze(Program program, const TrainOptions& options) {
  const bool trained = TrainsAny(program);
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
  if (trained && !TrainsAny(program)) {
    return Unexpected(InvalidInput(
        "every parameter is frozen, so there is nothing to train", "--freeze",
        "PyTorch refuses such a step, too: \"element 0 of tensors does not require grad\"."));
  }
  return program;
}

}  // namespace steelyard
