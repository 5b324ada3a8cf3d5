// SPDX-License-Identifier: Apache-2.0
//
// Gradients of arithmetic on elements.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor AddOther(Dispatcher& d, const Backward& b);
Tensor AddSelf(Dispatcher& d, const Backward& b);
Tensor SubOther(Dispatcher& d, const Backward& b);
Tensor RsubOther(Dispatcher& d, const Backward& b);
Tensor RsubSelf(Dispatcher& d, const Backward& b);
Tensor MulSelf(Dispatcher& d, const Backward& b);
Tensor MulOther(Dispatcher& d, const Backward& b);
Tensor DivSelf(Dispatcher& d, const Backward& b);
Tensor DivOther(Dispatcher& d, const Backward& b);
Tensor MulNumber(Dispatcher& d, const Backward& b);
Tensor DivNumber(Dispatcher& d, const Backward& b);
Tensor Pow(Dispatcher& d, const Backward& b);
Tensor TimesResult(Dispatcher& d, const Backward& b);
Tensor Sqrt(Dispatcher& d, const Backward& b);
Tensor Rsqrt(Dispatcher& d, const Backward& b);
Tensor Reciprocal(Dispatcher& d, const Backward& b);
Tensor Erf(Dispatcher& d, const Backward& b);
Tensor Log(Dispatcher& d, const Backward& b);
Tensor Sin(Dispatcher& d, const Backward& b);
Tensor Cos(Dispatcher& d, const Backward& b);
Tensor Abs(Dispatcher& d, const Backward& b);
Tensor LogitSelf(Dispatcher& d, const Backward& b);
Tensor Exp2(Dispatcher& d, const Backward& b);
Tensor Expm1(Dispatcher& d, const Backward& b);
Tensor Log2(Dispatcher& d, const Backward& b);
Tensor Log10(Dispatcher& d, const Backward& b);
Tensor Log1p(Dispatcher& d, const Backward& b);
Tensor Tan(Dispatcher& d, const Backward& b);
Tensor Atan(Dispatcher& d, const Backward& b);
std::vector<Tensor> Atan2(Dispatcher& d, const Backward& b);
Tensor XlogySelf(Dispatcher& d, const Backward& b);
Tensor XlogyOther(Dispatcher& d, const Backward& b);
Tensor XlogyOfNumber(Dispatcher& d, const Backward& b);
Tensor XlogyByNumber(Dispatcher& d, const Backward& b);
Tensor PowBase(Dispatcher& d, const Backward& b);
Tensor PowExponent(Dispatcher& d, const Backward& b);
Tensor PowOfNumber(Dispatcher& d, const Backward& b);
Tensor RoundedDivSelf(Dispatcher& d, const Backward& b);
Tensor RoundedDivOther(Dispatcher& d, const Backward& b);
Tensor RoundedDivNumber(Dispatcher& d, const Backward& b);
Tensor RemainderOther(Dispatcher& d, const Backward& b);
Tensor Clamp(Dispatcher& d, const Backward& b);
Tensor ClampMin(Dispatcher& d, const Backward& b);
Tensor ClampMax(Dispatcher& d, const Backward& b);
Tensor WhereLess(Dispatcher& d, const Backward& b);
Tensor WhereGreater(Dispatcher& d, const Backward& b);
Tensor LerpSelf(Dispatcher& d, const Backward& b);
Tensor LerpEnd(Dispatcher& d, const Backward& b);
Tensor AddcmulFirst(Dispatcher& d, const Backward& b);
Tensor AddcmulSecond(Dispatcher& d, const Backward& b);
Tensor AddcdivFirst(Dispatcher& d, const Backward& b);
Tensor AddcdivSecond(Dispatcher& d, const Backward& b);

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
// Steps are flat.
inline constexpr Gradient kFloor{"FloorBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kCeil{"CeilBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kRound{"RoundBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kTrunc{"TruncBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kSign{"SignBackward0", {GradientOf(0, {}, Zeros)}};
inline constexpr Gradient kLogit{"LogitBackward0", {GradientOf(0, {0}, LogitSelf)}};
// Overloads for a Python number save nothing.
inline constexpr Gradient kAddNumber{"AddBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kSubNumber{"SubBackward1", {GradientOf(0, {}, AddSelf)}};
inline constexpr Gradient kMulNumber{"MulBackward1", {GradientOf(0, {}, MulNumber)}};
inline constexpr Gradient kDivNumber{"DivBackward1", {GradientOf(0, {}, DivNumber)}};
inline constexpr Gradient kNeg{"NegBackward0", {GradientOf(0, {}, Negated)}};
inline constexpr Gradient kPow{"PowBackward0", {GradientOf(0, {0}, Pow)}};
inline constexpr Gradient kExp{"ExpBackward0", {GradientOf(0, {kResult}, TimesResult)}};
inline constexpr Gradient kSqrt{"SqrtBackward0", {GradientOf(0, {kResult}, Sqrt)}};
inline constexpr Gradient kRsqrt{"RsqrtBackward0", {GradientOf(0, {kResult}, Rsqrt)}};
inline constexpr Gradient kReciprocal{"ReciprocalBackward0",
                                      {GradientOf(0, {kResult}, Reciprocal)}};
inline constexpr Gradient kErf{"ErfBackward0", {GradientOf(0, {0}, Erf)}};
inline constexpr Gradient kLog{"LogBackward0", {GradientOf(0, {0}, Log)}};
inline constexpr Gradient kSin{"SinBackward0", {GradientOf(0, {0}, Sin)}};
inline constexpr Gradient kCos{"CosBackward0", {GradientOf(0, {0}, Cos)}};
inline constexpr Gradient kAbs{"AbsBackward0", {GradientOf(0, {0}, Abs)}};
inline constexpr Gradient kExp2{"Exp2Backward0", {GradientOf(0, {kResult}, Exp2)}};
inline constexpr Gradient kExpm1{"Expm1Backward0", {GradientOf(0, {kResult}, Expm1)}};
inline constexpr Gradient kLog2{"Log2Backward0", {GradientOf(0, {0}, Log2)}};
inline constexpr Gradient kLog10{"Log10Backward0", {GradientOf(0, {0}, Log10)}};
inline constexpr Gradient kLog1p{"Log1PBackward0", {GradientOf(0, {0}, Log1p)}};
inline constexpr Gradient kTan{"TanBackward0", {GradientOf(0, {kResult}, Tan)}};
inline constexpr Gradient kAtan{"AtanBackward0", {GradientOf(0, {0}, Atan)}};
inline constexpr Gradient kAtan2{"Atan2Backward0", {GradientsOf({0, 1}, {0, 1}, Atan2)}};
inline constexpr Gradient kXlogy{
    "XlogyBackward0", {GradientOf(1, {0, 1}, XlogyOther), GradientOf(0, {0, 1}, XlogySelf)}};
inline constexpr Gradient kXlogyByNumber{"XlogyBackward1", {GradientOf(1, {1}, XlogyByNumber)}};
inline constexpr Gradient kXlogyOfNumber{"XlogyBackward2", {GradientOf(0, {0}, XlogyOfNumber)}};
inline constexpr Gradient kPowTensors{
    "PowBackward1", {GradientOf(1, {0, 1, kResult}, PowExponent), GradientOf(0, {0, 1}, PowBase)}};
inline constexpr Gradient kPowOfNumber{"PowBackward2", {GradientOf(1, {1, kResult}, PowOfNumber)}};
inline constexpr Gradient kRoundedDiv{
    "DivBackward2", {GradientOf(1, {0, 1}, RoundedDivOther), GradientOf(0, {1}, RoundedDivSelf)}};
inline constexpr Gradient kRoundedDivNumber{"DivBackward3", {GradientOf(0, {}, RoundedDivNumber)}};
inline constexpr Gradient kFloorDivide{
    "NotImplemented", {GradientOf(1, {}, NotImplemented), GradientOf(0, {}, NotImplemented)}};
inline constexpr Gradient kRemainder{
    "RemainderBackward1", {GradientOf(1, {0, 1}, RemainderOther), GradientOf(0, {}, Same)}};
inline constexpr Gradient kRemainderNumber{"RemainderBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kClamp{"ClampBackward1", {GradientOf(0, {0}, Clamp)}};
inline constexpr Gradient kClampMin{"ClampMinBackward0", {GradientOf(0, {0}, ClampMin)}};
inline constexpr Gradient kClampMax{"ClampMaxBackward0", {GradientOf(0, {0}, ClampMax)}};
inline constexpr Gradient kMinimum{
    "MinimumBackward0", {GradientOf(1, {0, 1}, WhereLess), GradientOf(0, {0, 1}, WhereGreater)}};
inline constexpr Gradient kMaximum{
    "MaximumBackward0", {GradientOf(1, {0, 1}, WhereGreater), GradientOf(0, {0, 1}, WhereLess)}};
inline constexpr Gradient kLerp{"LerpBackward0",
                                {GradientOf(1, {}, LerpEnd), GradientOf(0, {}, LerpSelf)}};
inline constexpr Gradient kAddcmul{
    "AddcmulBackward0",
    {GradientOf(0, {}, Same), GradientOf(1, {2}, AddcmulFirst), GradientOf(2, {1}, AddcmulSecond)}};
inline constexpr Gradient kAddcdiv{"AddcdivBackward0",
                                   {GradientOf(0, {}, Same), GradientOf(1, {2}, AddcdivFirst),
                                    GradientOf(2, {1, 2}, AddcdivSecond)}};

}  // namespace steelyard::gradients
