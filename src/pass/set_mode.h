// SPDX-License-Identifier: Apache-2.0
//
// The mode that a model is in, as `module.train()` and `module.eval()` set it.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Rewrites the argument that operators with a mode have (dropout, batch normalization, recurrent
// layers), in all graphs; a note counts the calls it changed. Returns the program as it is for
// ModelMode::kExported, where a note counts, of a training step (`is_step`), the calls that would
// do otherwise in training. What exists in one mode only stays away: the probability that a model
// exported for evaluation passes to attention is zero. For ModelMode::kTrain a note says so, unless
// the program is known to be of a model that trains. Linear in the program.
Result<Program> SetMode(Program program, ModelMode mode, bool is_step);

}  // namespace steelyard
