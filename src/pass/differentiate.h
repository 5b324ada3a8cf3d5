// SPDX-License-Identifier: Apache-2.0
//
// The pass `differentiate`: a backward pass of the program's loss.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends `steelyard::backward` of the loss. `decompose` then runs the program with gradients
// recorded, as PyTorch does, and that call runs the nodes that were recorded: which kernels a
// backward pass consists of depends on how the forward was taken apart. Returns an error when no
// parameter requires a gradient. Under autocast to float16 the loss is scaled first. Requires: a
// loss (see `AppendLoss`).
Result<Program> Differentiate(Program program, const PassOptions& options);

// Whether the step's loss is scaled by a torch.amp.GradScaler, as one in float16 is under autocast;
// RAF scales none.
bool TakesScaler(const PassOptions& options);

}  // namespace steelyard
