// SPDX-License-Identifier: Apache-2.0
//
// Gradients of square roots of matrices and of polar factors.
#pragma once

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor MatrixSquareRootOf(Dispatcher& d, const Backward& b);
Tensor PolarOf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kMatrixSquareRoot{"LinalgMatrixSqrthBackward0",
                                            {GradientOf(0, {0}, MatrixSquareRootOf)}};
inline constexpr Gradient kPolar{"LinalgPolarBackward0",
                                 {GradientOf(0, {0, kResult, ResultAt(1)}, PolarOf)}};

}  // namespace steelyard::gradients
