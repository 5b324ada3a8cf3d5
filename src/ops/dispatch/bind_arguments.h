// SPDX-License-Identifier: Apache-2.0
//
// From the arguments a file gives (some by name, defaults left out) to the arguments of a
// signature, in its order.
#pragma once

#include <array>
#include <span>

#include "ops/op_def.h"

namespace steelyard {

using BoundArguments = std::array<Argument, Signature::kMaxParams>;

// Fills `bound` with one argument per parameter; what `given` leaves out takes the signature's
// default. Lists of defaults are added to `program`'s pool. Throws RuleError for an argument that
// the operator does not have, one given twice, and a required one that is missing.
void BindArguments(Program& program, const OpDef& def, std::span<const Argument> given,
                   BoundArguments& bound);

}  // namespace steelyard
