// SPDX-License-Identifier: Apache-2.0
//
// What norms over dimensions share.
#pragma once

#include "ops/op_def.h"
#include "ops/rules/work.h"

namespace steelyard::work {

// Squares and sums, and a root for each result.
inline Work Norm(const OpView& op) {
  return {.alu = Elements(op.self()) * 2, .special = Elements(op.output())};
}

}  // namespace steelyard::work
