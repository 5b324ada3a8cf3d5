// SPDX-License-Identifier: Apache-2.0
//
// The bits of views that stand for a conjugate or a changed sign, and who is given them.
#pragma once

#include "ops/op_def.h"

namespace steelyard {

// The bits that an operator is given as they are: those that its row says, and both where it makes
// a view, where its parts are asked in its stead, or where it is no operator of ATen's.
MathBits BitsTakenBy(const OpDef& def);

}  // namespace steelyard
