// SPDX-License-Identifier: Apache-2.0
//
// Gradients as RAF registers them (src/op/grad): its own operators, in the order of its arguments.
#pragma once

#include "ops/gradient.h"

namespace steelyard::gradients::raf {

std::vector<Tensor> Matmul(Dispatcher& d, const Backward& b);
std::vector<Tensor> MatmulNt(Dispatcher& d, const Backward& b);
std::vector<Tensor> MatmulTn(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchMatmul(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchMatmulNt(Dispatcher& d, const Backward& b);
std::vector<Tensor> BatchMatmulTn(Dispatcher& d, const Backward& b);
Tensor First(Dispatcher& d, const Backward& b);
Tensor Second(Dispatcher& d, const Backward& b);
Tensor Subtrahend(Dispatcher& d, const Backward& b);
Tensor FirstFactor(Dispatcher& d, const Backward& b);
Tensor SecondFactor(Dispatcher& d, const Backward& b);
Tensor Dividend(Dispatcher& d, const Backward& b);
Tensor AsOperand(Dispatcher& d, const Backward& b);
Tensor Bias(Dispatcher& d, const Backward& b);
Tensor Transpose(Dispatcher& d, const Backward& b);
Tensor Embedding(Dispatcher& d, const Backward& b);
Tensor Gelu(Dispatcher& d, const Backward& b);
Tensor Softmax(Dispatcher& d, const Backward& b);
Tensor LogSoftmax(Dispatcher& d, const Backward& b);
std::vector<Tensor> LayerNorm(Dispatcher& d, const Backward& b);
Tensor NllLoss(Dispatcher& d, const Backward& b);

inline constexpr Gradient kMatmul{"raf::matmul_dx", {GradientsOf({0, 1}, {0, 1}, Matmul)}};
inline constexpr Gradient kMatmulNt{"raf::matmul_nt_dx", {GradientsOf({0, 1}, {0, 1}, MatmulNt)}};
inline constexpr Gradient kMatmulTn{"raf::matmul_tn_dx", {GradientsOf({0, 1}, {0, 1}, MatmulTn)}};
inline constexpr Gradient kBatchMatmul{"raf::batch_matmul_dx",
                                       {GradientsOf({0, 1}, {0, 1}, BatchMatmul)}};
inline constexpr Gradient kBatchMatmulNt{"raf::batch_matmul_nt_dx",
                                         {GradientsOf({0, 1}, {0, 1}, BatchMatmulNt)}};
inline constexpr Gradient kBatchMatmulTn{"raf::batch_matmul_tn_dx",
                                         {GradientsOf({0, 1}, {0, 1}, BatchMatmulTn)}};
inline constexpr Gradient kAdd{"raf::add_dx",
                               {GradientOf(0, {}, First), GradientOf(1, {}, Second)}};
inline constexpr Gradient kSubtract{"raf::subtract_dx",
                                    {GradientOf(0, {}, First), GradientOf(1, {}, Subtrahend)}};
inline constexpr Gradient kMultiply{
    "raf::multiply_dx", {GradientOf(0, {1}, FirstFactor), GradientOf(1, {0}, SecondFactor)}};
inline constexpr Gradient kDivide{"raf::divide_dx", {GradientOf(0, {1}, Dividend)}};
inline constexpr Gradient kBiasAdd{"raf::bias_add_dx",
                                   {GradientOf(0, {}, AsOperand), GradientOf(1, {}, Bias)}};
inline constexpr Gradient kReshape{"raf::reshape_dx", {GradientOf(0, {}, AsOperand)}};
inline constexpr Gradient kTranspose{"raf::transpose_dx", {GradientOf(0, {}, Transpose)}};
inline constexpr Gradient kEmbedding{"raf::embedding_dx", {GradientOf(0, {1}, Embedding)}};
inline constexpr Gradient kGelu{"raf::gelu_dx", {GradientOf(0, {0}, Gelu)}};
inline constexpr Gradient kSoftmax{"raf::softmax_dx", {GradientOf(0, {kResult}, Softmax)}};
inline constexpr Gradient kLogSoftmax{"raf::log_softmax_dx",
                                      {GradientOf(0, {kResult}, LogSoftmax)}};
inline constexpr Gradient kLayerNorm{"raf::layer_norm_dx",
                                     {GradientsOf({0, 1, 2}, {0, 1}, LayerNorm)}};
inline constexpr Gradient kNllLoss{"raf::nll_loss_dpred", {GradientOf(1, {0, 1}, NllLoss)}};

}  // namespace steelyard::gradients::raf
