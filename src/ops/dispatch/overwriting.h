// SPDX-License-Identifier: Apache-2.0
//
// Which calls could overwrite their operand instead of giving a new tensor, as `inplace=True` asks
// of an activation.
#pragma once

#include <vector>

#include "ops/op_def.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// The row that does in place what `def` does of its first operand, its only tensor: "aten::relu_"
// of "aten::relu". Nothing where PyTorch has none.
const OpDef* InPlaceForm(const OpDef& def);

// By graph and node of a program.
using CallSet = std::vector<std::vector<bool>>;

// Those of `calls` that may overwrite their first operand in a training step: after them nothing
// reads it, no view of it is left, and autograd has not saved it. Runs the program as it is, in
// metadata. Requires: `program` trains; the first argument of each of `calls` is a tensor.
Result<CallSet> FindOverwriting(const Program& program, const Target& target, CallSet calls);

}  // namespace steelyard
