// SPDX-License-Identifier: Apache-2.0
//
// A model that is built of its config, with the quantised weights that are stored beside it.
#pragma once

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// Stores the parameters of `model` as `weights`, a program without a graph, has them: the Linear
// layers whose weights are quantised become layers of packed weights, as transformers replaces
// them, and are not trained. The others stay as the config has them. Unsupported where a quantised
// weight belongs to something else, or where none is quantised in a way that is known.
Result<Program> WithQuantisedWeights(Program model, const Program& weights);

}  // namespace steelyard
