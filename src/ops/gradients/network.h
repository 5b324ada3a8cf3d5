// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the operators that networks are made of and that have backward kernels of their own:
// activations, normalization, attention, embeddings, losses.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor ThresholdResult(Dispatcher& d, const Backward& b);
Tensor EluSelf(Dispatcher& d, const Backward& b);
Tensor EluResult(Dispatcher& d, const Backward& b);
Tensor LeakyReluResult(Dispatcher& d, const Backward& b);
Tensor GluSelf(Dispatcher& d, const Backward& b);
Tensor CeluSelf(Dispatcher& d, const Backward& b);
std::vector<Tensor> Prelu(Dispatcher& d, const Backward& b);
Tensor HardtanhSelf(Dispatcher& d, const Backward& b);
Tensor LeakyReluSelf(Dispatcher& d, const Backward& b);
// Of the operators that overwrite their operand only the result is left.
Tensor SoftplusSelf(Dispatcher& d, const Backward& b);
Tensor LogSigmoidSelf(Dispatcher& d, const Backward& b);
Tensor MseSelf(Dispatcher& d, const Backward& b);
Tensor MseTarget(Dispatcher& d, const Backward& b);
Tensor GeluSelf(Dispatcher& d, const Backward& b);
std::vector<Tensor> LayerNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> FlashAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> EfficientAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> CudaFlashAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> CudnnAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> RnnLayer(Dispatcher& d, const Backward& b);
Tensor EmbeddingWeight(Dispatcher& d, const Backward& b);
Tensor NllLossSelf(Dispatcher& d, const Backward& b);
Tensor NllLoss2dSelf(Dispatcher& d, const Backward& b);
Tensor SmoothL1Self(Dispatcher& d, const Backward& b);
Tensor SmoothL1Target(Dispatcher& d, const Backward& b);
Tensor HuberSelf(Dispatcher& d, const Backward& b);
Tensor HuberTarget(Dispatcher& d, const Backward& b);
Tensor CrossEntropySelf(Dispatcher& d, const Backward& b);
Tensor CrossEntropyTarget(Dispatcher& d, const Backward& b);
Tensor LogitsSelf(Dispatcher& d, const Backward& b);
Tensor LogitsTarget(Dispatcher& d, const Backward& b);
Tensor SoftMarginSelf(Dispatcher& d, const Backward& b);
Tensor MultiMarginSelf(Dispatcher& d, const Backward& b);
Tensor WhereSelf(Dispatcher& d, const Backward& b);
Tensor WhereOther(Dispatcher& d, const Backward& b);

inline constexpr Gradient kRelu{"ReluBackward0", {GradientOf(0, {kResult}, ThresholdResult)}};
inline constexpr Gradient kTanh{"TanhBackward0",
                                {GradientOf(0, {kResult}, OfResult<"aten::tanh_backward">)}};
inline constexpr Gradient kSigmoid{"SigmoidBackward0",
                                   {GradientOf(0, {kResult}, OfResult<"aten::sigmoid_backward">)}};
inline constexpr Gradient kSilu{"SiluBackward0",
                                {GradientOf(0, {0}, OfSelf<"aten::silu_backward">)}};
inline constexpr Gradient kElu{"EluBackward0", {GradientOf(0, {0}, EluSelf)}};
inline constexpr Gradient kEluInPlace{"EluBackward1", {GradientOf(0, {kResult}, EluResult)}};
inline constexpr Gradient kLeakyReluInPlace{"LeakyReluBackward1",
                                            {GradientOf(0, {kResult}, LeakyReluResult)}};
inline constexpr Gradient kGlu{"GluBackward0", {GradientOf(0, {0}, GluSelf)}};
inline constexpr Gradient kPrelu{"PreluKernelBackward0", {GradientsOf({0, 1}, {0, 1}, Prelu)}};
inline constexpr Gradient kCelu{"CeluBackward0", {GradientOf(0, {0}, CeluSelf)}};
inline constexpr Gradient kHardtanh{"HardtanhBackward0", {GradientOf(0, {0}, HardtanhSelf)}};
inline constexpr Gradient kHardswish{"HardswishBackward0",
                                     {GradientOf(0, {0}, OfSelf<"aten::hardswish_backward">)}};
inline constexpr Gradient kHardsigmoid{"HardsigmoidBackward0",
                                       {GradientOf(0, {0}, OfSelf<"aten::hardsigmoid_backward">)}};
inline constexpr Gradient kLeakyRelu{"LeakyReluBackward0", {GradientOf(0, {0}, LeakyReluSelf)}};
inline constexpr Gradient kSoftplus{"SoftplusBackward0", {GradientOf(0, {0}, SoftplusSelf)}};
inline constexpr Gradient kMish{"MishBackward0",
                                {GradientOf(0, {0}, OfSelf<"aten::mish_backward">)}};
inline constexpr Gradient kLogSigmoid{"LogSigmoidBackward0",
                                      {GradientOf(0, {0, ResultAt(1)}, LogSigmoidSelf)}};
inline constexpr Gradient kSmoothL1Loss{
    "SmoothL1LossBackward0",
    {GradientOf(0, {0, 1}, SmoothL1Self), GradientOf(1, {0, 1}, SmoothL1Target)}};
inline constexpr Gradient kHuberLoss{
    "HuberLossBackward0", {GradientOf(0, {0, 1}, HuberSelf), GradientOf(1, {0, 1}, HuberTarget)}};
inline constexpr Gradient kBinaryCrossEntropy{
    "BinaryCrossEntropyBackward0",
    {GradientOf(0, {0, 1, 2}, CrossEntropySelf), GradientOf(1, {0, 1, 2}, CrossEntropyTarget)}};
inline constexpr Gradient kBinaryCrossEntropyWithLogits{
    "BinaryCrossEntropyWithLogitsBackward0",
    {GradientOf(0, {0, 1, 2, 3}, LogitsSelf), GradientOf(1, {0, 1, 2, 3}, LogitsTarget)}};
inline constexpr Gradient kSoftMargin{"SoftMarginLossBackward0",
                                      {GradientOf(0, {0, 1}, SoftMarginSelf)}};
inline constexpr Gradient kMultiMargin{"MultiMarginLossBackward0",
                                       {GradientOf(0, {0, 1, 4}, MultiMarginSelf)}};
inline constexpr Gradient kNllLoss2d{"NllLoss2DBackward0",
                                     {GradientOf(0, {0, 1, 2, ResultAt(1)}, NllLoss2dSelf)}};
inline constexpr Gradient kMseLoss{
    "MseLossBackward0", {GradientOf(0, {0, 1}, MseSelf), GradientOf(1, {0, 1}, MseTarget)}};
inline constexpr Gradient kGelu{"GeluBackward0", {GradientOf(0, {0}, GeluSelf)}};
inline constexpr Gradient kLayerNorm{
    "NativeLayerNormBackward0",
    {GradientsOf({0, 2, 3}, {0, 2, 3, ResultAt(1), ResultAt(2)}, LayerNorm)}};
inline constexpr Gradient kFlashAttention{
    "ScaledDotProductFlashAttentionForCpuBackward0",
    {GradientsOf({0, 1, 2}, {0, 1, 2, 5, ResultAt(0), ResultAt(1)}, FlashAttention)}};
inline constexpr Gradient kEfficientAttention{
    "ScaledDotProductEfficientAttentionBackward0",
    {GradientsOf({0, 1, 2, 3}, {0, 1, 2, 3, ResultAt(0), ResultAt(1), ResultAt(2), ResultAt(3)},
                 EfficientAttention)}};
inline constexpr Gradient kCudaFlashAttention{
    "ScaledDotProductFlashAttentionBackward0",
    {GradientsOf({0, 1, 2}, {0, 1, 2, ResultAt(0), ResultAt(1), ResultAt(6), ResultAt(7)},
                 CudaFlashAttention)}};
inline constexpr Gradient kCudnnAttention{
    "ScaledDotProductCudnnAttentionBackward0",
    {GradientsOf({0, 1, 2}, {0, 1, 2, 3, ResultAt(0), ResultAt(1), ResultAt(6), ResultAt(7)},
                 CudnnAttention)}};
inline constexpr Gradient kRnnLayer{
    "MkldnnRnnLayerBackward0",
    {GradientsOf({0, 1, 2, 3, 4, 5, 6},
                 {0, 1, 2, 3, 4, 5, 6, ResultAt(0), ResultAt(1), ResultAt(2), ResultAt(3)},
                 RnnLayer)}};
inline constexpr Gradient kEmbedding{"EmbeddingBackward0", {GradientOf(0, {1}, EmbeddingWeight)}};
inline constexpr Gradient kNllLoss{"NllLossBackward0",
                                   {GradientOf(0, {0, 1, 2, ResultAt(1)}, NllLossSelf)}};
inline constexpr Gradient kWhere{"WhereBackward0",
                                 {GradientOf(2, {0}, WhereOther), GradientOf(1, {0}, WhereSelf)}};

}  // namespace steelyard::gradients
