// SPDX-License-Identifier: Apache-2.0
//
// Tied weights in files that do not say so.
#pragma once

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// Takes a parameter that no node uses for a second name of the one used parameter of its sizes and
// dtype, if there is exactly one: an export keeps all names of a tied weight and uses one of them.
// A vector, though, is tied only together with a matrix of its module, where that has one: models
// tie the bias of their last layer with its weight, or neither, and one of the two biases is unused
// either way. What is not tied for that reason is noted too.
// Every name then stands for the used value, whose storage the unused ones share. The tensor goes
// by the first of its names in the file, as in PyTorch's named_parameters(): modules count it
// there, and `tied_to` of the others tells it. A note for each of those says what was assumed. Does
// nothing where the file itself says which names are one tensor (`ties_known`). Takes time linear
// in the program.
Result<Program> TieParameters(Program program);

}  // namespace steelyard
