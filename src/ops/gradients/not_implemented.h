// SPDX-License-Identifier: Apache-2.0
//
// Operators that PyTorch takes in a forward pass and refuses to differentiate. Their results have a
// history nevertheless (the node NotImplemented), which is refused only where a gradient comes to
// it.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

// By each of these arguments.
template <int... kPlaces>
inline constexpr Gradient kNotImplementedOf{"NotImplemented",
                                            {GradientOf(kPlaces, {}, NotImplemented)...}};

}  // namespace steelyard::gradients
