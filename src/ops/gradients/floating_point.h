// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators on the form of a floating-point number.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor NextSelf(Dispatcher& d, const Backward& b);
Tensor CopysignSelf(Dispatcher& d, const Backward& b);
Tensor WhereFinite(Dispatcher& d, const Backward& b);

inline constexpr Gradient kCopysign{
    "CopysignBackward0",
    {GradientOf(1, {}, ZerosOfArgument<1>), GradientOf(0, {0, kResult}, CopysignSelf)}};
inline constexpr Gradient kCopysignNumber{"CopysignBackward1",
                                          {GradientOf(0, {0, kResult}, CopysignSelf)}};
inline constexpr Gradient kNanToNum{"NanToNumBackward0", {GradientOf(0, {0}, WhereFinite)}};
inline constexpr Gradient kNextafter{
    "NextafterBackward0", {GradientOf(1, {}, ZerosOfArgument<1>), GradientOf(0, {0, 1}, NextSelf)}};

}  // namespace steelyard::gradients
