// SPDX-License-Identifier: Apache-2.0
//
// The calls that DeepSpeed's flops profiler patches, and what it counts for each. What it does not
// patch it does not count. Functions and operators look alike in an exported graph: a sum is taken
// for `a + b`, which DeepSpeed does not see, and not for torch.add, which it does; a hardtanh for
// nn.ReLU6 and not for F.relu6; and a function for one that the model looks up when it calls it
// (transformers keeps F.gelu, so that DeepSpeed's patch of it is never called).
#pragma once

#include <array>

#include "analyze/counting.h"

namespace steelyard::deepspeed {

// Places of arguments, by the schemas of the operators.
inline constexpr int kConvolutionBias = 2;
inline constexpr int kLayerNormWeight = 2;  // of group_norm too
inline constexpr int kNormWeight = 1;       // of batch_norm, instance_norm and the native kernels
inline constexpr int kBatchNormTraining = 5;
inline constexpr int kUpsampleSize = 1;

// Version 0.19.8 (deepspeed/profiling/flops_profiler/profiler.py).
inline constexpr std::array kMacs{
    CallRule{.op = "aten::linear", .mac = 1},
    CallRule{.op = "aten::conv1d", .mac = 1},
    CallRule{.op = "aten::conv2d", .mac = 1},
    CallRule{.op = "aten::conv3d", .mac = 1},
    CallRule{.op = "aten::convolution", .mac = 1},
    CallRule{.op = "aten::_convolution", .mac = 1},
    CallRule{.op = "aten::conv_transpose1d", .mac = 1},
    CallRule{.op = "aten::conv_transpose2d", .mac = 1},
    CallRule{.op = "aten::conv_transpose3d", .mac = 1},
    CallRule{.op = "aten::matmul", .mac = 1},
    CallRule{.op = "aten::mm", .mac = 1},
    CallRule{.op = "aten::bmm", .mac = 1},
    CallRule{.op = "aten::addmm", .mac = 1},
    CallRule{.op = "aten::baddbmm", .mac = 1},
    CallRule{.op = "aten::scaled_dot_product_attention", .mac = 1},
};

inline constexpr std::array kFlops{
    CallRule{.op = "aten::linear", .mac = 2},
    CallRule{.op = "aten::matmul", .mac = 2},
    CallRule{.op = "aten::mm", .mac = 2},
    CallRule{.op = "aten::bmm", .mac = 2},
    CallRule{.op = "aten::scaled_dot_product_attention", .mac = 2},
    // The product is added to something of as many elements as the first operand has.
    CallRule{.op = "aten::addmm", .mac = 2, .input = 1},
    CallRule{.op = "aten::baddbmm", .mac = 2, .input = 1},
    // numpy counts one operation more than two for each multiply-add; it is left out.
    CallRule{.op = "aten::einsum", .mac = 2},
    // A bias is added to each element of the result.
    CallRule{.op = "aten::conv1d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv1d", .mac = 2},
    CallRule{.op = "aten::conv2d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv2d", .mac = 2},
    CallRule{.op = "aten::conv3d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv3d", .mac = 2},
    CallRule{.op = "aten::convolution", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::convolution", .mac = 2},
    CallRule{.op = "aten::_convolution", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::_convolution", .mac = 2},
    CallRule{.op = "aten::conv_transpose1d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose1d", .mac = 2},
    CallRule{.op = "aten::conv_transpose2d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose2d", .mac = 2},
    CallRule{.op = "aten::conv_transpose3d", .mac = 2, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose3d", .mac = 2},
    CallRule{.op = "aten::relu", .input = 1},
    CallRule{.op = "aten::relu_", .input = 1},
    CallRule{.op = "aten::relu6", .input = 1},
    CallRule{.op = "aten::relu6_", .input = 1},
    CallRule{.op = "aten::prelu", .input = 1},
    CallRule{.op = "aten::elu", .input = 1},
    CallRule{.op = "aten::elu_", .input = 1},
    CallRule{.op = "aten::leaky_relu", .input = 1},
    CallRule{.op = "aten::leaky_relu_", .input = 1},
    CallRule{.op = "aten::silu", .input = 1},
    CallRule{.op = "aten::silu_", .input = 1},
    CallRule{.op = "aten::gelu", .input = 1},
    CallRule{.op = "aten::softmax", .input = 1},
    CallRule{.op = "aten::_softmax", .input = 1},
    CallRule{.op = "aten::avg_pool1d", .input = 1},
    CallRule{.op = "aten::avg_pool2d", .input = 1},
    CallRule{.op = "aten::avg_pool3d", .input = 1},
    CallRule{.op = "aten::max_pool1d", .input = 1},
    CallRule{.op = "aten::max_pool2d", .input = 1},
    CallRule{.op = "aten::max_pool3d", .input = 1},
    CallRule{.op = "aten::max_pool2d_with_indices", .input = 1},
    CallRule{.op = "aten::max_pool3d_with_indices", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool1d", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool2d", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool3d", .input = 1},
    CallRule{.op = "aten::_adaptive_avg_pool2d", .input = 1},
    CallRule{.op = "aten::_adaptive_avg_pool3d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool1d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool2d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool3d", .input = 1},
    // Four operations for each element, five where it is scaled and shifted.
    CallRule{.op = "aten::layer_norm", .input = 5, .given = kLayerNormWeight},
    CallRule{.op = "aten::layer_norm", .input = 4},
    CallRule{.op = "aten::group_norm", .input = 5, .given = kLayerNormWeight},
    CallRule{.op = "aten::group_norm", .input = 4},
    CallRule{.op = "aten::native_layer_norm", .input = 5, .given = kLayerNormWeight},
    CallRule{.op = "aten::native_layer_norm", .input = 4},
    CallRule{.op = "aten::instance_norm", .input = 5, .given = kNormWeight},
    CallRule{.op = "aten::instance_norm", .input = 4},
    CallRule{.op = "aten::native_group_norm", .input = 5, .given = kNormWeight},
    CallRule{.op = "aten::native_group_norm", .input = 4},
    // With the statistics of training; without them two, or one.
    CallRule{
        .op = "aten::batch_norm", .input = 5, .given = kNormWeight, .truth = kBatchNormTraining},
    CallRule{.op = "aten::batch_norm", .input = 4, .truth = kBatchNormTraining},
    CallRule{.op = "aten::batch_norm", .input = 2, .given = kNormWeight},
    CallRule{.op = "aten::batch_norm", .input = 1},
    CallRule{.op = "aten::native_batch_norm",
             .input = 5,
             .given = kNormWeight,
             .truth = kBatchNormTraining},
    CallRule{.op = "aten::native_batch_norm", .input = 4, .truth = kBatchNormTraining},
    CallRule{.op = "aten::native_batch_norm", .input = 2, .given = kNormWeight},
    CallRule{.op = "aten::native_batch_norm", .input = 1},
    CallRule{.op = "aten::_native_batch_norm_legit_no_training", .input = 2, .given = kNormWeight},
    CallRule{.op = "aten::_native_batch_norm_legit_no_training", .input = 1},
    // Where the size is given it forgets batch and channels.
    CallRule{.op = "aten::upsample_nearest1d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest1d", .output = 1},
    CallRule{.op = "aten::upsample_nearest2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest2d", .output = 1},
    CallRule{.op = "aten::upsample_nearest3d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest3d", .output = 1},
    CallRule{.op = "aten::upsample_linear1d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_linear1d", .output = 1},
    CallRule{.op = "aten::upsample_bilinear2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_bilinear2d", .output = 1},
    CallRule{.op = "aten::upsample_bicubic2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_bicubic2d", .output = 1},
    CallRule{.op = "aten::upsample_trilinear3d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_trilinear3d", .output = 1},
};

// Commit 4544b7d2f, from May to December 2021: one list, printed as MACs; no matrix products
// besides those of linear layers and convolutions.
inline constexpr std::array kMacsOf2021{
    CallRule{.op = "aten::linear", .mac = 1},
    CallRule{.op = "aten::conv1d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv1d", .mac = 1},
    CallRule{.op = "aten::conv2d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv2d", .mac = 1},
    CallRule{.op = "aten::conv3d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv3d", .mac = 1},
    CallRule{.op = "aten::convolution", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::convolution", .mac = 1},
    CallRule{.op = "aten::_convolution", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::_convolution", .mac = 1},
    CallRule{.op = "aten::conv_transpose1d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose1d", .mac = 1},
    CallRule{.op = "aten::conv_transpose2d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose2d", .mac = 1},
    CallRule{.op = "aten::conv_transpose3d", .mac = 1, .output = 1, .given = kConvolutionBias},
    CallRule{.op = "aten::conv_transpose3d", .mac = 1},
    CallRule{.op = "aten::relu", .input = 1},
    CallRule{.op = "aten::relu_", .input = 1},
    CallRule{.op = "aten::relu6", .input = 1},
    CallRule{.op = "aten::relu6_", .input = 1},
    CallRule{.op = "aten::prelu", .input = 1},
    CallRule{.op = "aten::elu", .input = 1},
    CallRule{.op = "aten::elu_", .input = 1},
    CallRule{.op = "aten::leaky_relu", .input = 1},
    CallRule{.op = "aten::leaky_relu_", .input = 1},
    CallRule{.op = "aten::softmax", .input = 1},
    CallRule{.op = "aten::_softmax", .input = 1},
    CallRule{.op = "aten::avg_pool1d", .input = 1},
    CallRule{.op = "aten::avg_pool2d", .input = 1},
    CallRule{.op = "aten::avg_pool3d", .input = 1},
    CallRule{.op = "aten::max_pool1d", .input = 1},
    CallRule{.op = "aten::max_pool2d", .input = 1},
    CallRule{.op = "aten::max_pool3d", .input = 1},
    CallRule{.op = "aten::max_pool2d_with_indices", .input = 1},
    CallRule{.op = "aten::max_pool3d_with_indices", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool1d", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool2d", .input = 1},
    CallRule{.op = "aten::adaptive_avg_pool3d", .input = 1},
    CallRule{.op = "aten::_adaptive_avg_pool2d", .input = 1},
    CallRule{.op = "aten::_adaptive_avg_pool3d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool1d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool2d", .input = 1},
    CallRule{.op = "aten::adaptive_max_pool3d", .input = 1},
    CallRule{.op = "aten::batch_norm", .input = 2},
    CallRule{.op = "aten::native_batch_norm", .input = 2},
    CallRule{.op = "aten::_native_batch_norm_legit_no_training", .input = 2},
    CallRule{.op = "aten::upsample_nearest1d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest1d", .input = 1},
    CallRule{.op = "aten::upsample_nearest2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest2d", .input = 1},
    CallRule{.op = "aten::upsample_nearest3d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_nearest3d", .input = 1},
    CallRule{.op = "aten::upsample_linear1d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_linear1d", .input = 1},
    CallRule{.op = "aten::upsample_bilinear2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_bilinear2d", .input = 1},
    CallRule{.op = "aten::upsample_bicubic2d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_bicubic2d", .input = 1},
    CallRule{.op = "aten::upsample_trilinear3d", .spatial = 1, .given = kUpsampleSize},
    CallRule{.op = "aten::upsample_trilinear3d", .input = 1},
};

}  // namespace steelyard::deepspeed
