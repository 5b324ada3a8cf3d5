// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions and softmax.
#pragma once

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

// Of a norm of order `p` over `dims`, which `grad` and `norm` have kept (norm_backward).
Tensor NormBackward(Dispatcher& d, const Tensor& self, const Tensor& grad, const Tensor& norm,
                    double p, const Dims& dims);
Tensor SumSelf(Dispatcher& d, const Backward& b);
Tensor SumDimSelf(Dispatcher& d, const Backward& b);
Tensor NanSumSelf(Dispatcher& d, const Backward& b);
Tensor MeanSelf(Dispatcher& d, const Backward& b);
Tensor MeanDimSelf(Dispatcher& d, const Backward& b);
Tensor SoftmaxSelf(Dispatcher& d, const Backward& b);
Tensor LogSoftmaxSelf(Dispatcher& d, const Backward& b);
Tensor ProdSelf(Dispatcher& d, const Backward& b);
Tensor ProdDimSelf(Dispatcher& d, const Backward& b);
Tensor ExtremeOfDims(Dispatcher& d, const Backward& b);
Tensor ExtremeOfAll(Dispatcher& d, const Backward& b);
Tensor VectorNormSelf(Dispatcher& d, const Backward& b);
Tensor VarSelf(Dispatcher& d, const Backward& b);
Tensor StdSelf(Dispatcher& d, const Backward& b);
Tensor VarMeanSelf(Dispatcher& d, const Backward& b);
Tensor StdMeanSelf(Dispatcher& d, const Backward& b);
Tensor LogSumExpSelf(Dispatcher& d, const Backward& b);
Tensor NormOfAllSelf(Dispatcher& d, const Backward& b);
Tensor NormOfAllAsSelf(Dispatcher& d, const Backward& b);
Tensor NormAsSelf(Dispatcher& d, const Backward& b);
Tensor RenormSelf(Dispatcher& d, const Backward& b);
Tensor CumsumSelf(Dispatcher& d, const Backward& b);
Tensor CumprodSelf(Dispatcher& d, const Backward& b);
Tensor LogCumSumExpSelf(Dispatcher& d, const Backward& b);
Tensor ExtremesSelf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kSum{"SumBackward0", {GradientOf(0, {}, SumSelf)}};
inline constexpr Gradient kSumDim{"SumBackward1", {GradientOf(0, {}, SumDimSelf)}};
inline constexpr Gradient kNanSum{"NansumBackward0", {GradientOf(0, {0}, NanSumSelf)}};
inline constexpr Gradient kMean{"MeanBackward0", {GradientOf(0, {}, MeanSelf)}};
inline constexpr Gradient kMeanDim{"MeanBackward1", {GradientOf(0, {}, MeanDimSelf)}};
inline constexpr Gradient kProd{"ProdBackward0", {GradientOf(0, {0, kResult}, ProdSelf)}};
inline constexpr Gradient kProdDim{"ProdBackward1", {GradientOf(0, {0, kResult}, ProdDimSelf)}};
inline constexpr Gradient kAmax{"AmaxBackward0", {GradientOf(0, {0, kResult}, ExtremeOfDims)}};
inline constexpr Gradient kAmin{"AminBackward0", {GradientOf(0, {0, kResult}, ExtremeOfDims)}};
inline constexpr Gradient kAminmax{"AminmaxBackward0",
                                   {GradientOf(0, {0, ResultAt(0), ResultAt(1)}, ExtremesSelf)}};
inline constexpr Gradient kMaxAll{"MaxBackward1", {GradientOf(0, {0, kResult}, ExtremeOfAll)}};
inline constexpr Gradient kMinAll{"MinBackward1", {GradientOf(0, {0, kResult}, ExtremeOfAll)}};
inline constexpr Gradient kVectorNorm{"LinalgVectorNormBackward0",
                                      {GradientOf(0, {0, kResult}, VectorNormSelf)}};
inline constexpr Gradient kVar{"VarBackward0", {GradientOf(0, {0}, VarSelf)}};
inline constexpr Gradient kStd{"StdBackward0", {GradientOf(0, {0, kResult}, StdSelf)}};
inline constexpr Gradient kVarMean{"VarMeanBackward0", {GradientOf(0, {0}, VarMeanSelf)}};
inline constexpr Gradient kStdMean{"StdMeanBackward0", {GradientOf(0, {0, kResult}, StdMeanSelf)}};
inline constexpr Gradient kLogSumExp{"LogsumexpBackward0",
                                     {GradientOf(0, {0, kResult}, LogSumExpSelf)}};
inline constexpr Gradient kMedianAll{"MedianBackward0",
                                     {GradientOf(0, {0, kResult}, ExtremeOfAll)}};
inline constexpr Gradient kNanMedianAll{"NanmedianBackward0",
                                        {GradientOf(0, {0, kResult}, ExtremeOfAll)}};
inline constexpr Gradient kNorm{"NormBackward1", {GradientOf(0, {0, kResult}, VectorNormSelf)}};
inline constexpr Gradient kNormAs{"NormBackward3", {GradientOf(0, {0, kResult}, NormAsSelf)}};
inline constexpr Gradient kRenorm{"RenormBackward0", {GradientOf(0, {0}, RenormSelf)}};
inline constexpr Gradient kNormOfAll{"NormBackward0", {GradientOf(0, {0, kResult}, NormOfAllSelf)}};
inline constexpr Gradient kNormOfAllAs{"NormBackward2",
                                       {GradientOf(0, {0, kResult}, NormOfAllAsSelf)}};
inline constexpr Gradient kCumsum{"CumsumBackward0", {GradientOf(0, {}, CumsumSelf)}};
inline constexpr Gradient kCumprod{"CumprodBackward0", {GradientOf(0, {0, kResult}, CumprodSelf)}};
inline constexpr Gradient kLogCumSumExp{"LogcumsumexpBackward0",
                                        {GradientOf(0, {0, kResult}, LogCumSumExpSelf)}};
inline constexpr Gradient kSoftmax{"SoftmaxBackward0", {GradientOf(0, {kResult}, SoftmaxSelf)}};
inline constexpr Gradient kSafeSoftmax{"SafeSoftmaxBackward0",
                                       {GradientOf(0, {kResult}, SoftmaxSelf)}};
inline constexpr Gradient kLogSoftmax{"LogSoftmaxBackward0",
                                      {GradientOf(0, {kResult}, LogSoftmaxSelf)}};

}  // namespace steelyard::gradients
