// SPDX-License-Identifier: Apache-2.0
//
// The pass `autocast`: runs the model and the loss, not what comes after them, in a region of
// torch.autocast.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Puts all calls that the program has into a region in the dtype of `options`; without one it is
// given back as it is. Which operands are cast says the column `precision` of each row, when the
// program is decomposed, or else the overrides of `options`. A usage error where autocast has no
// such dtype or there are overrides and no region; a not-found error where one names nothing.
Result<Program> InsertAutocast(Program program, const AmpOptions& options);

}  // namespace steelyard
