// SPDX-License-Identifier: Apache-2.0
//
// A step of DeepSpeed's engine with ZeRO (ops/parallel/deepspeed.h), as other passes append it:
// `differentiate` the backward pass, `append_optimizer` the rest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends `engine.backward(loss)`. Refuses what of the step is not known to the byte there.
Result<Program> BackwardInEngine(Program program, const PassOptions& options);

// What the engine steps at once: all of a group of parameters, or some.
struct Stepped {
  ValueId master = kNoId;
  std::size_t group = 0;
};

// Begins the program with the engine, and gives what it steps, in this order. Where a program is
// asked for that makes the engine, all of it becomes that.
Result<std::vector<Stepped>> EnterEngine(Program& program,
                                         std::span<const std::vector<Argument>> groups,
                                         const PassOptions& options);

}  // namespace steelyard
