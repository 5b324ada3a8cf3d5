// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// Forgets the calls of which something is used afterwards that they do not return: what autograd
// keeps of the parts of an operator. These run part by part.
void KeepClosedCalls(Program& kernels);

// By node of the main graph: whether nothing is left of it where whole calls run in place of the
// first of their nodes. What came from before a call is let go where it was.
std::vector<bool> InWholeCalls(const Program& kernels);

// The program with a node for each whole call: what it computes, not what it allocates.
void FoldWholeCalls(Program& kernels);

}  // namespace steelyard
