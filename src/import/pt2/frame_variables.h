// SPDX-License-Identifier: Apache-2.0
//
// How long the variables of a model's `forward` functions hold tensors. The file does not say; but
// it tells of each node under which lines of Python it was made, and these name what they assign.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "import/pt2/frame_lines.h"
#include "steelyard/import.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// By graph and node: the number of its trace, or kNoId. What is missing at the end has none.
using TracesOfGraphs = std::vector<std::vector<std::uint32_t>>;

// Adds nodes to the graphs that hold what functions' variables hold, where that is longer
// than it is used: until the name is given to something else, or the function returns. Of
// the main graph, where it is known what was let go when, that is what counts.
void HoldVariables(Program& program, FrameLines& lines, TracesOfGraphs traces,
                   const ModuleFacts* module = nullptr);

}  // namespace steelyard::pt2
