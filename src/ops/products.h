// SPDX-License-Identifier: Apache-2.0
//
// Products of vectors, of chains of matrices, and of three tensors at once.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace steelyard::ops {

std::span<const OpDef> Products();

}  // namespace steelyard::ops
