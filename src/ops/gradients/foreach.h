// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators on lists of tensors: those of the operator for one tensor, element by
// element.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/reduction.h"

namespace steelyard::gradients {

// Lists of which only the dtype is needed are kept, too: PyTorch keeps no dtypes of a list.
template <GradientFn kOne>
std::vector<Tensor> Each(Dispatcher& d, const Backward& b) {
  return b.EachElement([&](const Backward& element) { return kOne(d, element); });
}
// PyTorch gives a gradient for each element where there is one divisor, and stops.
std::vector<Tensor> OneDivisor(Dispatcher& d, const Backward& b);

inline constexpr Gradient kEachNeg{"ForeachNegBackward0", {GradientsOf({0}, {}, Each<Negated>)}};
inline constexpr Gradient kEachSqrt{"ForeachSqrtBackward0",
                                    {GradientsOf({0}, {kResult}, Each<Sqrt>)}};
inline constexpr Gradient kEachAdd{
    "ForeachAddBackward0List",
    {GradientsOf({1}, {1}, Each<AddOther>), GradientsOf({0}, {0}, Each<AddSelf>)}};
inline constexpr Gradient kEachMul{
    "ForeachMulBackward0List",
    {GradientsOf({1}, {0}, Each<MulOther>), GradientsOf({0}, {1}, Each<MulSelf>)}};
inline constexpr Gradient kEachMulNumber{"ForeachMulBackward1ScalarList",
                                         {GradientsOf({0}, {0}, Each<MulNumber>)}};
inline constexpr Gradient kEachDiv{
    "ForeachDivBackward0",
    {GradientsOf({1}, {0, 1}, Each<DivOther>), GradientsOf({0}, {1}, Each<DivSelf>)}};
inline constexpr Gradient kEachDivByOne{
    "ForeachDivBackward0Tensor",
    {GradientsOf({1}, {0, 1}, OneDivisor), GradientsOf({0}, {1}, Each<DivSelf>)}};
inline constexpr Gradient kEachAddcmul{
    "ForeachAddcmulBackward0Scalar",
    {GradientsOf({0}, {0}, Each<Same>), GradientsOf({1}, {1, 2}, Each<AddcmulFirst>),
     GradientsOf({2}, {1, 2}, Each<AddcmulSecond>)}};
inline constexpr Gradient kEachNorm{"ForeachNormBackward0",
                                    {GradientsOf({0}, {0, kResult}, Each<NormOfAllSelf>)}};

}  // namespace steelyard::gradients
