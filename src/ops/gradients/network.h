// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the operators that networks are made of and that have backward kernels of their own:
// normalization, attention, embeddings, losses.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor MseSelf(Dispatcher& d, const Backward& b);
Tensor MseTarget(Dispatcher& d, const Backward& b);
std::vector<Tensor> LayerNorm(Dispatcher& d, const Backward& b);
std::vector<Tensor> FlashAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> EfficientAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> CudaFlashAttention(Dispatcher& d, const Backward& b);
std::vector<Tensor> PackageAttention(Dispatcher& d, const Backward& b);
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
inline constexpr Gradient kNllLoss2d =
    Gradient("NllLoss2DBackward0", {GradientOf(0, {0, 1, 2, ResultAt(1)}, NllLoss2dSelf)})
        .OnlyOf({0});
inline constexpr Gradient kMseLoss{
    "MseLossBackward0", {GradientOf(0, {0, 1}, MseSelf), GradientOf(1, {0, 1}, MseTarget)}};
inline constexpr Gradient kLayerNorm =
    Gradient("NativeLayerNormBackward0",
             {GradientsOf({0, 2, 3}, {0, 2, 3, ResultAt(1), ResultAt(2)}, LayerNorm)})
        .OnlyOf({0});
inline constexpr Gradient kFlashAttention =
    Gradient("ScaledDotProductFlashAttentionForCpuBackward0",
             {GradientsOf({0, 1, 2}, {0, 1, 2, 5, ResultAt(0), ResultAt(1)}, FlashAttention)})
        .OnlyOf({0});
inline constexpr Gradient kEfficientAttention =
    Gradient(
        "ScaledDotProductEfficientAttentionBackward0",
        {GradientsOf({0, 1, 2, 3}, {0, 1, 2, 3, ResultAt(0), ResultAt(1), ResultAt(2), ResultAt(3)},
                     EfficientAttention)})
        .OnlyOf({0});
inline constexpr Gradient kCudaFlashAttention =
    Gradient("ScaledDotProductFlashAttentionBackward0",
             {GradientsOf({0, 1, 2}, {0, 1, 2, ResultAt(0), ResultAt(1), ResultAt(6), ResultAt(7)},
                          CudaFlashAttention)})
        .OnlyOf({0});
inline constexpr Gradient kPackageAttention =
    Gradient("FlashAttentionBackward0",
             {GradientsOf({0, 1, 2}, {0, 1, 2, ResultAt(0), ResultAt(1), ResultAt(2), ResultAt(3)},
                          PackageAttention)})
        .OnlyOf({0});
inline constexpr Gradient kCudnnAttention =
    Gradient(
        "ScaledDotProductCudnnAttentionBackward0",
        {GradientsOf({0, 1, 2}, {0, 1, 2, 3, ResultAt(0), ResultAt(1), ResultAt(6), ResultAt(7)},
                     CudnnAttention)})
        .OnlyOf({0});
inline constexpr Gradient kRnnLayer =
    Gradient("MkldnnRnnLayerBackward0",
             {GradientsOf({0, 1, 2, 3, 4, 5, 6},
                          {0, 1, 2, 3, 4, 5, 6, ResultAt(0), ResultAt(1), ResultAt(2), ResultAt(3)},
                          RnnLayer)})
        .OnlyOf({0, 1, 2});
inline constexpr Gradient kEmbedding{"EmbeddingBackward0", {GradientOf(0, {1}, EmbeddingWeight)}};
inline constexpr Gradient kNllLoss =
    Gradient("NllLossBackward0", {GradientOf(0, {0, 1, 2, ResultAt(1)}, NllLossSelf)}).OnlyOf({0});

}  // namespace steelyard::gradients
