// SPDX-License-Identifier: Apache-2.0
//
// From the operators a model calls to the kernels PyTorch runs, with the place where each value
// dies.
#pragma once

#include "ops/dispatch/graph_plan.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

// Every composite taken apart as its row says, sizes and strides computed by the rows' rules,
// kDropMark nodes where the last reference to a value goes; higher-order operators inlined. A
// kernel's `frame` is the composite it runs in, its `origin` the node it comes from. Operators
// without a row pass through with the sizes the file gives. Values die as `variables` says.
// Requires: `program` is concrete.
Result<Program> Decompose(const Program& program, const Target& target,
                          Variables variables = Variables::kGenerated);

}  // namespace steelyard
