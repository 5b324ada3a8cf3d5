// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

// Gives what the program returns the sizes that its operators' rows find, where the program does
// not say them: a loss is appended by the sizes of scores. Other results stay as they are.
// Requires: concrete.
Result<Program> InferOutputs(Program program, const Target& target);

// The same of any values of the main graph. Those whose sizes the program says keep them.
Result<Program> LayOut(Program program, std::span<const ValueId> values, const Target& target);

}  // namespace steelyard
