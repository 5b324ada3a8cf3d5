// SPDX-License-Identifier: Apache-2.0
//
// The pass `append_loss`: computes a loss of the program's first output, as a training loop does
// after it has called the model.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends the loss named in `options` and makes it the last output. With no name the program must
// return a loss: the floating-point output of one element that `options` say, that the file calls
// "loss" (`Program::loss`) or that is the first, which a note says where there are others. Targets
// are made inside the step, as a loop without a data loader does; they die when the loss has been
// computed unless its gradient needs them. Returns an error when there is no such loss, no output
// to take it of, or the output's shape does not fit. Requires: a concrete program.
Result<Program> AppendLoss(Program program, const TrainOptions& options);

// The value that a training step differentiates where nothing else is said, kNoId if the program
// returns none.
ValueId FindLoss(const Program& program);

}  // namespace steelyard
