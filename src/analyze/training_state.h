// SPDX-License-Identifier: Apache-2.0
//
// What a training loop keeps for the parameters, whatever the batch: gradients and the optimizer's
// state.
#pragma once

#include <cstdint>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

struct TrainingState {
  // All tensors of the optimizer's state that have one name: "exp_avg". Those that the step itself
  // makes have none yet.
  struct Part {
    StringId name = kNoString;
    std::int64_t bytes = 0;
  };
  std::int64_t gradients = 0;        // bytes
  std::int64_t optimizer_state = 0;  // bytes, those of the parts
  std::vector<Part> parts;           // in the order in which the first parameter has them
};

// `kernels` is a program that `decompose` gave. Every storage counts once, though a gradient may be
// written many times.
TrainingState CountTrainingState(const Program& kernels);

}  // namespace steelyard
