// SPDX-License-Identifier: Apache-2.0

#include "pass/differentiate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "pass/append_call.h"
#include "pass/deepspeed.h"

namespace steelyard {

bool TakesScaler(const PassOptions& options) {
  return options.amp.dtype == DType::kFloat16 && options.amp.policy == CastPolicy::kTorch &&
         !options.train.optimizer.empty();
}

Result<Program> Differentiate(Program program, const PassOptions& options) {
  const bool any = std::ranges::any_of(program.parameters, [&](const NamedTensor& parameter) {
    return program.values[parameter.value].requires_grad;
  });
  if (!any) {
    return Unexpected(InvalidInput("no parameter requires a gradient, so there is nothing to train",
                                   "", "Export the model with requires_grad=True."));
  }
  if (ZeroStage(options.train.parallel) > 0) return BackwardInEngine(std::move(program), options);
  if (!TakesScaler(options)) {
    const std::array args{Argument::OfValue(program.loss)};
    AppendCall(program, kBackwardOp, args, {}, Phase::kBackward);
    return program;
  }
  const std::vector<std::int64_t> sizes(program.sizes(program.loss).begin(),
                                        program.sizes(program.loss).end());
  const ValueId scaled = AddResult(program, "scaled_loss", DType::kFloat32, sizes);
  const std::array scaling{Argument::OfValue(program.loss),
                           Argument::OfBool(options.train.first_step)};
  AppendCall(program, "steelyard::scaled_loss", scaling, {&scaled, 1}, Phase::kLoss);
  // No variable of the caller's holds it.
  const std::array args{Argument::OfValue(scaled), Argument::None(), Argument::OfBool(false)};
  AppendCall(program, kBackwardOp, args, {}, Phase::kBackward);
  return program;
}

}  // namespace steelyard
