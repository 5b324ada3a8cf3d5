// SPDX-License-Identifier: Apache-2.0
//
// A step of DeepSpeed's engine with ZeRO (ops/parallel/deepspeed.h), as other passes append it:
// `differentiate` the backward pass, `append_optimizer` the rest.
#pragma once

#include <span>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends `engine.backward(loss)`. Refuses what of the step is not known to the byte there.
Result<Program> BackwardInEngine(Program program, const PassOptions& options);

// Begins the program with the engine, and gives of each group of parameters what is stepped of it.
Result<std::vector<ValueId>> EnterEngine(Program& program,
                                         std::span<const std::vector<Argument>> groups,
                                         const TrainOptions& options);

}  // namespace steelyard
