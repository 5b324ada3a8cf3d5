// SPDX-License-Identifier: Apache-2.0
//
// Gradients of products of reflections.
#pragma once

#include <vector>

#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> HouseholderBoth(Dispatcher& d, const Backward& b);

inline constexpr Gradient kHouseholder{"LinalgHouseholderProductBackward0",
                                       {GradientsOf({0, 1}, {0, 1, kResult}, HouseholderBoth)}};

}  // namespace steelyard::gradients
