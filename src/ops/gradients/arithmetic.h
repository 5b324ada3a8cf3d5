// SPDX-License-Identifier: Apache-2.0
//
// Gradients of arithmetic on elements.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor AddSelf(Dispatcher& d, const Backward& b);
Tensor AddOther(Dispatcher& d, const Backward& b);
Tensor SubOther(Dispatcher& d, const Backward& b);
Tensor RsubSelf(Dispatcher& d, const Backward& b);
Tensor RsubOther(Dispatcher& d, const Backward& b);
Tensor MulSelf(Dispatcher& d, const Backward& b);
Tensor MulOther(Dispatcher& d, const Backward& b);
Tensor MulNumber(Dispatcher& d, const Backward& b);
Tensor DivSelf(Dispatcher& d, const Backward& b);
Tensor DivOther(Dispatcher& d, const Backward& b);
Tensor DivNumber(Dispatcher& d, const Backward& b);
Tensor RoundedDivSelf(Dispatcher& d, const Backward& b);
Tensor RoundedDivOther(Dispatcher& d, const Backward& b);
Tensor RoundedDivNumber(Dispatcher& d, const Backward& b);
Tensor RemainderOther(Dispatcher& d, const Backward& b);
Tensor FmodOther(Dispatcher& d, const Backward& b);
Tensor Abs(Dispatcher& d, const Backward& b);

inline constexpr Gradient kAdd{"AddBackward0",
                               {GradientOf(1, {}, AddOther), GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kSub{"SubBackward0",
                               {GradientOf(1, {}, SubOther), GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kRsub{"RsubBackward1", {GradientOf(0, {}, RsubSelf)}};
inline constexpr Gradient kRsubTensor{"RsubBackward0",
                                      {GradientOf(1, {}, RsubOther), GradientOf(0, {}, RsubSelf)}};
inline constexpr Gradient kMul{"MulBackward0",
                               {GradientOf(1, {0}, MulOther), GradientOf(0, {1}, MulSelf)}};
inline constexpr Gradient kDiv{"DivBackward0",
                               {GradientOf(1, {0, 1}, DivOther), GradientOf(0, {1}, DivSelf)}};
// Overloads for a Python number save nothing.
inline constexpr Gradient kAddNumber{"AddBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kSubNumber{"SubBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kMulNumber{"MulBackward1", {GradientOf(0, {}, MulNumber)}};
inline constexpr Gradient kDivNumber{"DivBackward1", {GradientOf(0, {}, DivNumber)}};
inline constexpr Gradient kRoundedDiv{
    "DivBackward2", {GradientOf(1, {0, 1}, RoundedDivOther), GradientOf(0, {1}, RoundedDivSelf)}};
inline constexpr Gradient kRoundedDivNumber{"DivBackward3", {GradientOf(0, {}, RoundedDivNumber)}};
inline constexpr Gradient kFloorDivide{
    "NotImplemented", {GradientOf(1, {}, NotImplemented), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kRemainder{
    "RemainderBackward1", {GradientOf(1, {0, 1}, RemainderOther), GradientOf(0, {}, Same)}};
inline constexpr Gradient kRemainderNumber{"RemainderBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kFmod{"FmodBackward1",
                                {GradientOf(1, {0, 1}, FmodOther), GradientOf(0, {}, Same)}};
inline constexpr Gradient kFmodNumber{"FmodBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kNeg{"NegBackward0", {GradientOf(0, {}, Negated)}};
inline constexpr Gradient kAbs{"AbsBackward0", {GradientOf(0, {0}, Abs)}};
inline constexpr Gradient kSign{"SignBackward0", {GradientOf(0, {}, Zeros)}};

}  // namespace steelyard::gradients
