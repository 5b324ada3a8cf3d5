// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ops/op_def.h"

namespace steelyard::ops {

// torch.gradient.
std::span<const OpDef> NumericalGradient();

}  // namespace steelyard::ops
