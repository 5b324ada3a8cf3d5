// SPDX-License-Identifier: Apache-2.0
//
// Activations in place.
#pragma once

#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Replaces calls of one tensor in the modules that `options.inplace` names by the form of their
// operator that overwrites it, wherever autograd lets it: nothing reads the tensor later, and
// nothing has saved it. A note says how many. A not-found error where a pattern names no module, an
// unsupported one where no call may overwrite its operand. Requires: the program has a backward
// pass and no optimizer yet.
Result<Program> Overwrite(Program program, const TrainOptions& options, const Target& target);

}  // namespace steelyard
