// SPDX-License-Identifier: Apache-2.0
//
// Layers that run as one operator, for the list of families.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace steelyard::ops {

std::span<const OpDef> Transformer();

}  // namespace steelyard::ops
