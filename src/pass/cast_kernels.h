// SPDX-License-Identifier: Apache-2.0
//
// The pass `cast_kernels`: mixed precision as the compiler RAF has it (src/pass/auto_cast.cc
// there).
#pragma once

#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Casts operands of all kernels by the rules of RAF's operators (ops/raf_policy) and gives every
// result the dtype that follows. Kernels with floating operands and no rule compute in the dtypes
// that they had, and a note of the program lists them. Requires: `decompose` has run. A usage error
// as of `InsertAutocast`.
Result<Program> CastKernels(Program kernels, const AmpOptions& options, const Target& target);

}  // namespace steelyard
