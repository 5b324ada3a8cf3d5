// SPDX-License-Identifier: Apache-2.0
//
// Makes a program without a graph of stored tensors: parameters and buffers in a tree of modules
// that their names tell.
#pragma once

#include "import/weights/quantised_layers.h"
#include "import/weights/stored.h"
#include "steelyard/program.h"

namespace steelyard::weights {

// Quantised layers are one parameter each, with all their tensors in its bytes; tensors at one
// place are tied; lists of modules are put in the order of their numbers.
Program BuildProgram(StoredWeights weights, const QuantisationHints& hints);

}  // namespace steelyard::weights
