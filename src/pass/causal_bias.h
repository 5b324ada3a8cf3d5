// SPDX-License-Identifier: Apache-2.0
//
// What transformers does when attention is both causal and biased: it passes no mask to it but cuts
// the bias with one that it makes for this call alone (`create_position_bias_mask`).
#pragma once

#include <span>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// Has these calls, where(mask, bias, -inf) by their places in the main graph, read masks that
// nothing makes yet; returns those. Requires: the last two dimensions of the results are known.
std::vector<ValueId> ReadCausalMasks(Program& program, std::span<const NodeId> calls);

// Adds the nodes that make these masks, each before the call that reads it. The function that makes
// them has them, and what it cuts, until it returns the bias in one piece.
void MakeCausalMasks(Program& program, std::span<const ValueId> masks);

}  // namespace steelyard
