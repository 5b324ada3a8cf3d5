// SPDX-License-Identifier: Apache-2.0

#include "pass/differentiate.h"

#include <algorithm>
#include <array>

#include "pass/append_call.h"

namespace steelyard {

Result<Program> Differentiate(Program program) {
  const bool any = std::ranges::any_of(program.parameters, [&](const NamedTensor& parameter) {
    return program.values[parameter.value].requires_grad;
  });
  if (!any) {
    return Unexpected(InvalidInput("no parameter requires a gradient, so there is nothing to train",
                                   "", "Export the model with requires_grad=True."));
  }
  const std::array args{Argument::OfValue(program.loss)};
  AppendCall(program, kBackwardOp, args, {}, Phase::kBackward);
  return program;
}

}  // namespace steelyard
