// SPDX-License-Identifier: Apache-2.0
//
// The pass `freeze`: parameters that are not trained.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Takes `requires_grad` from the parameters that a pattern of `options.freeze` matches, so that the
// backward pass leaves out what only they need. Returns an error for a pattern that matches none.
Result<Program> Freeze(Program program, const TrainOptions& options);

}  // namespace steelyard
