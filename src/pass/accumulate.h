// SPDX-License-Identifier: Apache-2.0
//
// The pass `accumulate`: several micro-steps before the optimizer's.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Repeats the program, which ends with its backward pass, `options.accumulate` times. After each
// repetition but the last the loop lets go of its outputs and of its loss, as in
//
//   for batch in batches:
//       output = model(batch)
//       loss = output.loss / len(batches)
//       loss.backward()
//       del output, loss
//
// Of more than four that are not to be unrolled, one stands for all that are like it
// (`Program::repeat`). Refuses fewer than one, and more than can be written out, where they are.
// Requires: `Differentiate` has run.
Result<Program> Accumulate(Program program, const TrainOptions& options);

// How many micro-steps `Accumulate` writes out.
int WrittenMicroSteps(const TrainOptions& options);

}  // namespace steelyard
