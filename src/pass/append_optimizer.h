// SPDX-License-Identifier: Apache-2.0
//
// The pass `append_optimizer`: the step of an optimizer, and zero_grad after it.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Appends the optimizer's step over the parameters that require a gradient, in the order of
// `module.parameters()`, each tensor once. Returns a usage error when there is no such optimizer.
Result<Program> AppendOptimizer(Program program, const PassOptions& options);

}  // namespace steelyard
