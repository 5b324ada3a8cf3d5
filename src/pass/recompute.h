// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Puts each call of a module that a pattern names, and that is not within another such module, into
// a graph of its own that `steelyard::checkpoint` runs. An error for a pattern without modules, and
// for modules whose nodes do not stand together.
Result<Program> Recompute(Program program, const TrainOptions& options);

}  // namespace steelyard
