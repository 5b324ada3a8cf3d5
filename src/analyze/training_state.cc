// SPDX-License-Identifier: Apache-2.0

#include "analyze/training_state.h"

#include <algorithm>

#include "ops/op_def.h"

namespace steelyard {

TrainingState CountTrainingState(const Program& kernels) {
  TrainingState state;
  std::vector<bool> seen(kernels.storage_count, false);
  for (ValueId id = 0; id < kernels.values.size(); ++id) {
    const Value& value = kernels.values[id];
    if (value.role != Role::kGradient && value.role != Role::kOptimizerState) continue;
    if (seen[value.storage]) continue;
    seen[value.storage] = true;
    const std::int64_t bytes = TensorView(kernels, id).bytes();
    if (value.role == Role::kGradient) {
      state.gradients += bytes;
      continue;
    }
    state.optimizer_state += bytes;
    auto part = std::ranges::find(state.parts, value.name, &TrainingState::Part::name);
    if (part == state.parts.end()) part = state.parts.insert(part, {value.name, 0});
    part->bytes += bytes;
  }
  return state;
}

}  // namespace steelyard
