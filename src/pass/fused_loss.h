// SPDX-License-Identifier: Apache-2.0
//
// A cross-entropy that never holds the scores of all tokens at once.
#pragma once

#include <span>

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Replaces the layer that computes `scores`, which the program then no longer returns, by as many
// calls of it as `options.fused_loss` says, of some of the rows each, and a loss of each under
// torch.utils.checkpoint; gives the value of the loss, their sum over the number of rows. `op` is
// called with scores, class numbers and `tail`, and sums. Refuses scores that are not those of a
// linear layer, or are used otherwise. docs/training_memory.md has it in Python.
Result<ValueId> AppendFusedLoss(Program& program, ValueId scores, std::string_view op,
                                std::span<const Argument> tail, const TrainOptions& options);

}  // namespace steelyard
