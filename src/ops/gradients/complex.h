// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what makes complex numbers, takes them apart and transforms them.
#pragma once

#include <vector>

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

// t times so many imaginary units, by the operator for a Python number.
Tensor TimesImaginary(Dispatcher& d, const Tensor& t, double number = 1.0);

Tensor OfImaginary(Dispatcher& d, const Backward& b);
Tensor Conjugated(Dispatcher& d, const Backward& b);
Tensor ConjugatedInMemory(Dispatcher& d, const Backward& b);
Tensor OfPairs(Dispatcher& d, const Backward& b);
Tensor OfComplexView(Dispatcher& d, const Backward& b);
Tensor RealPart(Dispatcher& d, const Backward& b);
Tensor ImaginaryPart(Dispatcher& d, const Backward& b);
std::vector<Tensor> Polar(Dispatcher& d, const Backward& b);
Tensor Angle(Dispatcher& d, const Backward& b);
Tensor SgnSelf(Dispatcher& d, const Backward& b);
Tensor TransformedBack(Dispatcher& d, const Backward& b);
Tensor OfRealTransform(Dispatcher& d, const Backward& b);
Tensor OfTransformToReal(Dispatcher& d, const Backward& b);

inline constexpr Gradient kTimesImaginary{"MulBackward1", {GradientOf(0, {}, OfImaginary)}};
inline constexpr Gradient kConj{"ConjBackward0", {GradientOf(0, {}, Conjugated)}};
inline constexpr Gradient kConjPhysical{"ConjPhysicalBackward0",
                                        {GradientOf(0, {}, ConjugatedInMemory)}};
inline constexpr Gradient kNegView{"NegViewBackward0", {GradientOf(0, {}, Negated)}};
inline constexpr Gradient kViewAsReal{"ViewAsRealBackward0", {GradientOf(0, {}, OfPairs)}};
inline constexpr Gradient kViewAsComplex{"ViewAsComplexBackward0",
                                         {GradientOf(0, {}, OfComplexView)}};
// The formulas are named like the operands, which are kept for that.
inline constexpr Gradient kComplex{
    "ComplexBackward0", {GradientOf(1, {1}, ImaginaryPart), GradientOf(0, {0}, RealPart)}};
inline constexpr Gradient kPolar{"PolarBackward0", {GradientsOf({0, 1}, {kResult}, Polar)}};
inline constexpr Gradient kAngle{"AngleBackward0", {GradientOf(0, {0}, Angle)}};
inline constexpr Gradient kSgn{"SgnBackward0", {GradientOf(0, {0, kResult}, SgnSelf)}};
inline constexpr Gradient kTransformComplex{"FftC2CBackward0",
                                            {GradientOf(0, {}, TransformedBack)}};
inline constexpr Gradient kTransformReal{"FftR2CBackward0", {GradientOf(0, {0}, OfRealTransform)}};
inline constexpr Gradient kTransformToReal{"FftC2RBackward0",
                                           {GradientOf(0, {}, OfTransformToReal)}};

}  // namespace steelyard::gradients
