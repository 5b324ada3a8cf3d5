// SPDX-License-Identifier: Apache-2.0
//
// The tree of modules that the names of tensors tell: "encoder.layer.0.weight" is of the module
// "encoder.layer.0" within "encoder.layer" within "encoder".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "steelyard/program.h"

namespace steelyard::weights {

// Fills `program->modules`, and returns the names' indices in the order of the tree: a module's own
// tensors, then those of its children. Modules keep the order in which the names bring them up, but
// those of a list, called by numbers, stand in the order of the numbers.
std::vector<std::uint32_t> ArrangeModules(std::span<const StringId> names, Program* program);

}  // namespace steelyard::weights
