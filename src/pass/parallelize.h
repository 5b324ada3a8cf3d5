// SPDX-License-Identifier: Apache-2.0
//
// A step that several processes make together, seen from one of them.
#pragma once

#include "steelyard/pass.h"

namespace steelyard {

// Wraps the model, but not a loss that was appended to it, as the options say. Refuses what of a
// step is not known to the byte there. Requires: `parallel.wrapper` is not empty.
Result<Program> Parallelize(Program program, const TrainOptions& options);
// Whether there are such processes and that wrapper, and what no wrapper's step is known with.
Status CheckProcesses(const TrainOptions& options);

}  // namespace steelyard
