// SPDX-License-Identifier: Apache-2.0
//
// What a model that was exported does when it is run as a module. Libraries write masks of
// attention down while they are traced, and pass none, or say `is_causal`, while they run.
#pragma once

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// Takes masks that hide nothing from calls of attention, from what they are added to and from
// biases that are cut with them, and says `is_causal` where they hide what comes later, and then
// gives heads of keys and values as they are where the file repeats them for those of the query;
// what only made either goes too. A bias that is cut with a causal mask gets one of its own
// (pass/causal_bias.h). Masks are evaluated: those of which not every element is known stay, and
// those that the model makes itself, by lines that call no library for one. Requires: `program` is
// concrete.
Result<Program> RecognizeMasks(Program program);

}  // namespace steelyard
