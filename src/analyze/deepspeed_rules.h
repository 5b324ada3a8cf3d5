// SPDX-License-Identifier: Apache-2.0
//
// The calls that DeepSpeed's flops profiler patches, and what it counts for each. What it does not
// patch it does not count. Functions and operators look alike in an exported graph: a sum is taken
// for `a + b`, which DeepSpeed does not see, and not for torch.add, which it does; a hardtanh for
// nn.ReLU6 and not for F.relu6; and a function for one that the model looks up when it calls it
// (transformers keeps F.gelu, so that DeepSpeed's patch of it is never called).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "analyze/counting.h"

namespace steelyard::deepspeed {

// Places of arguments, by the schemas of the operators.
inline constexpr int kConvolutionBias = 2;
inline constexpr int kLayerNormWeight = 2;  // of group_norm too
inline constexpr int kNormWeight = 1;       // of batch_norm, instance_norm and the native kernels
inline constexpr int kBatchNormTraining = 5;
inline constexpr int kUpsampleSize = 1;

// Short lists joined; the rules of one call stand together then, in the order given.
template <std::size_t... kSizes>
constexpr auto Joined(const std::array<CallRule, kSizes>&... lists) {
  std::array<CallRule, (kSizes + ...)> all;
  auto next = all.begin();
  ((next = std::ranges::copy(lists, next).out), ...);
  for (auto rule = all.begin(); rule != all.end(); ++rule) {
    const auto place = std::ranges::upper_bound(all.begin(), rule, rule->op, {}, &CallRule::op);
    std::rotate(place, rule, rule + 1);
  }
  return all;
}

template <std::size_t kSize>
constexpr std::array<CallRule, kSize> OfEach(const std::string_view (&ops)[kSize], CallRule rule) {
  std::array<CallRule, kSize> all;
  for (std::size_t i = 0; i < kSize; ++i) {
    all[i] = rule;
    all[i].op = ops[i];
  }
  return all;
}

inline constexpr std::string_view kConvolutions[] = {
    "aten::conv1d",           "aten::conv2d",           "aten::conv3d",
    "aten::convolution",      "aten::_convolution",     "aten::conv_transpose1d",
    "aten::conv_transpose2d", "aten::conv_transpose3d",
};

// A bias is added to each element of the result.
constexpr auto ConvolutionsWithBias(int mac) {
  return Joined(OfEach(kConvolutions, {.mac = mac, .output = 1, .given = kConvolutionBias}),
                OfEach(kConvolutions, {.mac = mac}));
}

inline constexpr std::string_view kUpsamplings[] = {
    "aten::upsample_nearest1d",   "aten::upsample_nearest2d",  "aten::upsample_nearest3d",
    "aten::upsample_linear1d",    "aten::upsample_bilinear2d", "aten::upsample_bicubic2d",
    "aten::upsample_trilinear3d",
};

// Where the size is given it forgets batch and channels.
inline constexpr auto kUpsamplingsToASize =
    OfEach(kUpsamplings, {.spatial = 1, .given = kUpsampleSize});

inline constexpr auto kElementsRead = OfEach(
    {
        "aten::relu",
        "aten::relu_",
        "aten::relu6",
        "aten::relu6_",
        "aten::prelu",
        "aten::elu",
        "aten::elu_",
        "aten::leaky_relu",
        "aten::leaky_relu_",
        "aten::softmax",
        "aten::_softmax",
        "aten::avg_pool1d",
        "aten::avg_pool2d",
        "aten::avg_pool3d",
        "aten::max_pool1d",
        "aten::max_pool2d",
        "aten::max_pool3d",
        "aten::max_pool2d_with_indices",
        "aten::max_pool3d_with_indices",
        "aten::adaptive_avg_pool1d",
        "aten::adaptive_avg_pool2d",
        "aten::adaptive_avg_pool3d",
        "aten::_adaptive_avg_pool2d",
        "aten::_adaptive_avg_pool3d",
        "aten::adaptive_max_pool1d",
        "aten::adaptive_max_pool2d",
        "aten::adaptive_max_pool3d",
    },
    {.input = 1});

// Of recurrent layers it counts sums and products of a state besides (_rnn_flops), of a stack as
// often as it has layers, and of each gate one sum less than there are, which the biases make up
// for. What would be less than its products, of simple layers without biases, counts as these.
inline constexpr int kStackBiases = 3, kStackLayers = 4, kCellBias = 4;
constexpr std::array<CallRule, 4> Recurrent(std::string_view stack, std::string_view cell,
                                            int state, int gates) {
  const int unbiased = std::max(state - 2 * gates, 0);
  return {CallRule{
              .op = stack, .mac = 2, .output = state, .times = kStackLayers, .truth = kStackBiases},
          CallRule{.op = stack, .mac = 2, .output = unbiased, .times = kStackLayers},
          CallRule{.op = cell, .mac = 2, .output = state, .given = kCellBias},
          CallRule{.op = cell, .mac = 2, .output = unbiased}};
}

// Version 0.19.8 (deepspeed/profiling/flops_profiler/profiler.py).
inline constexpr auto kMacs =
    Joined(OfEach({"aten::linear", "aten::matmul", "aten::mm", "aten::bmm", "aten::addmm",
                   "aten::baddbmm", "aten::scaled_dot_product_attention"},
                  {.mac = 1}),
           OfEach(kConvolutions, {.mac = 1}));

inline constexpr auto kFlops = Joined(
    // numpy counts one operation more than two for each multiply-add of an einsum; it is left out.
    OfEach({"aten::linear", "aten::matmul", "aten::mm", "aten::bmm",
            "aten::scaled_dot_product_attention", "aten::einsum"},
           {.mac = 2}),
    // The product is added to something of as many elements as the first operand has.
    OfEach({"aten::addmm", "aten::baddbmm"}, {.mac = 2, .input = 1}), ConvolutionsWithBias(2),
    kElementsRead, OfEach({"aten::silu", "aten::silu_", "aten::gelu"}, {.input = 1}),
    // Four operations for each element, five where it is scaled and shifted.
    OfEach({"aten::layer_norm", "aten::group_norm", "aten::native_layer_norm"},
           {.input = 5, .given = kLayerNormWeight}),
    OfEach({"aten::instance_norm", "aten::native_group_norm"}, {.input = 5, .given = kNormWeight}),
    OfEach({"aten::layer_norm", "aten::group_norm", "aten::native_layer_norm",
            "aten::instance_norm", "aten::native_group_norm"},
           {.input = 4}),
    // With the statistics of training; without them two, or one.
    OfEach({"aten::batch_norm", "aten::native_batch_norm"},
           {.input = 5, .given = kNormWeight, .truth = kBatchNormTraining}),
    OfEach({"aten::batch_norm", "aten::native_batch_norm"},
           {.input = 4, .truth = kBatchNormTraining}),
    OfEach({"aten::batch_norm", "aten::native_batch_norm",
            "aten::_native_batch_norm_legit_no_training"},
           {.input = 2, .given = kNormWeight}),
    OfEach({"aten::batch_norm", "aten::native_batch_norm",
            "aten::_native_batch_norm_legit_no_training"},
           {.input = 1}),
    Recurrent("aten::lstm", "aten::lstm_cell", 10, 4),
    Recurrent("aten::gru", "aten::gru_cell", 7, 3),
    Recurrent("aten::rnn_tanh", "aten::rnn_tanh_cell", 1, 1),
    Recurrent("aten::rnn_relu", "aten::rnn_relu_cell", 1, 1), kUpsamplingsToASize,
    OfEach(kUpsamplings, {.output = 1}));

// Commit 4544b7d2f, from May to December 2021: one list, printed as MACs; no matrix products
// besides those of linear layers and convolutions.
inline constexpr auto kMacsOf2021 =
    Joined(OfEach({"aten::linear"}, {.mac = 1}), ConvolutionsWithBias(1), kElementsRead,
           OfEach({"aten::batch_norm", "aten::native_batch_norm",
                   "aten::_native_batch_norm_legit_no_training"},
                  {.input = 2}),
           kUpsamplingsToASize, OfEach(kUpsamplings, {.input = 1}));

}  // namespace steelyard::deepspeed
