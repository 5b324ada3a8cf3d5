// SPDX-License-Identifier: Apache-2.0
//
// What an archive tells of its weights without reading them: which names are one tensor.
#pragma once

#include <span>
#include <vector>

#include "import/pt2/archive.h"
#include "import/pt2/state_dict.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// The tensors in the JSON that lists an archive's weights (torch 2.8 and later); empty when it is
// not as it should be, because nothing but the ties depends on it.
std::vector<StoredTensor> ReadWeightsConfig(const PaddedText& json);

// Makes names of one tensor one value: names that the signature gives twice, and names that are
// stored as one. All uses go to the first of the values that is used; the others keep their place
// among the graph's inputs and share its storage. Where `stored` is not empty it is the whole
// truth, and `ties_known` is set.
void TieNames(Program& program, std::span<const StoredTensor> stored);

}  // namespace steelyard::pt2
