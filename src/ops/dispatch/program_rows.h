// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

// The row of each operator that the program names, by OpId; null where it has none.
std::vector<const OpDef*> RowsOf(const Program& program);

}  // namespace steelyard
