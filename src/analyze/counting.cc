// SPDX-License-Identifier: Apache-2.0
//
// What each convention counts, in which measure, and where it departs from a sum over kernels: its
// counter leaves operators out, or counts a convolution's gradient as if it had no groups.
#include "analyze/counting.h"

#include <algorithm>
#include <array>

#include "analyze/deepspeed_rules.h"

namespace steelyard {
namespace {

// What the registry of torch.utils.flop_counter has no formula for, and does not see the inside of.
constexpr auto kNotInFlopCounter = std::to_array<std::string_view>({
    "aten::_addmm_activation",
    "aten::_euclidean_dist",
    "aten::_grouped_mm",
    "aten::_int_mm",
    "aten::_native_multi_head_attention",
    "aten::_slow_conv2d_backward",
    "aten::_transformer_encoder_layer_fwd",
    "aten::_trilinear",
    "aten::_weight_int4pack_mm_for_cpu",
    "aten::_weight_int8pack_mm",
    "aten::addbmm",
    "aten::addbmm_",
    "aten::addmm_",
    "aten::addmv",
    "aten::addmv_",
    "aten::affine_grid_generator",
    "aten::baddbmm_",
    "aten::bilinear",
    "aten::cdist",
    "aten::conv_tbc",
    "aten::dot",
    "aten::linalg_matrix_exp",
    "aten::linalg_matrix_sqrth",
    "aten::linalg_pinv",
    "aten::linalg_polar",
    "aten::mkldnn_convolution",
    "aten::mkldnn_rnn_layer",
    "aten::mkldnn_rnn_layer_backward",
    "aten::mv",
    "aten::pinverse",
    "aten::slow_conv3d_forward",
    "aten::slow_conv_dilated2d",
    "aten::slow_conv_dilated3d",
    "aten::slow_conv_transpose2d",
    "aten::slow_conv_transpose3d",
    "aten::vdot",
});
// What it has one for, whatever runs inside.
constexpr auto kInFlopCounter = std::to_array<std::string_view>({
    "aten::_convolution",
    "aten::convolution",
    "aten::convolution_backward",
});

// Its formula for the gradient of a convolution's weight takes every channel to meet all of the
// weight's, whatever the groups.
Count ExcessOfFlopCounter(const OpView& kernel) {
  constexpr int kGradient = 0, kImage = 1, kWeight = 2;
  if (!kernel.def().label().ends_with("convolution_backward") &&
      kernel.def().label() != "steelyard::onednn_transposed_backward") {
    return 0;
  }
  const TensorView weight = kernel.tensor(kWeight);
  const bool transposed = kernel.tensor(kImage).size(1) == weight.size(0);
  const std::int64_t channels = kernel.tensor(transposed ? kGradient : kImage).size(1);
  const std::int64_t groups = channels / std::max<std::int64_t>(weight.size(1), 1);
  const Dims wanted = kernel.ints(kernel.arg_count() - 1);  // of image, weight and bias
  if (groups <= 1 || wanted.size() < 2 || wanted[1] == 0) return 0;
  const Count macs = (**kernel.def().work)(kernel).mac;  // alike for each of the two gradients
  return Count(macs.value() / (wanted[0] != 0 ? 2 : 1)) * (groups - 1);
}

constexpr Measure kDeepSpeedFlops{
    .name = "flops", .unit = Unit::kFlops, .calls = deepspeed::kFlops};

constexpr Measure kTranscendentals{
    .name = "transcendentals", .unit = Unit::kCount, .weights = {.special = 1}};

constexpr std::array kConventions{
    Convention{
        .name = "torch",
        .summary = "contractions, 2 x multiply-adds",
        .source =
            "torch.utils.flop_counter, 2.15: matrix products, convolutions and attention; those "
            "that it has no formula for are counted all the same",
        .measure = {.name = "flops", .unit = Unit::kFlops, .weights = {.mac = 2}},
        .uncounted = kNotInFlopCounter,
        .counted = kInFlopCounter,
        .excess = ExcessOfFlopCounter},
    Convention{.name = "all",
               .summary = "arithmetic of every operator; a multiply-add is 2, a special function 1",
               .source = "every addition, multiplication, comparison and function evaluation once",
               .measure = {.name = "flops",
                           .unit = Unit::kFlops,
                           .weights = {.mac = 2, .alu = 1, .special = 1, .compare = 1}}},
    Convention{.name = "deepspeed",
               .summary = "multiply-adds of the calls that DeepSpeed patches (MACs), forward only",
               .source = "DeepSpeed 0.19.8, deepspeed.profiling.flops_profiler",
               .measure = {.name = "macs", .unit = Unit::kMacs, .calls = deepspeed::kMacs},
               .beside = &kDeepSpeedFlops},
    Convention{
        .name = "deepspeed-2021",
        .summary = "MACs as DeepSpeed counted in 2021: no matrix products but those of layers, "
                   "softmax and pooling as MACs, forward only",
        .source = "DeepSpeed's flops profiler from May to December 2021 (commit 4544b7d2f), whose "
                  "numbers its tutorial shows",
        .measure = {.name = "macs", .unit = Unit::kMacs, .calls = deepspeed::kMacsOf2021}},
    Convention{.name = "raf",
               .summary = "tensor-expression arithmetic: special functions, casts and float "
                          "comparisons are free",
               .source = "RAF estimate_flops over TVM's ComputeDAG",
               .measure = {.name = "flops", .unit = Unit::kFlops, .weights = {.mac = 2, .alu = 1}},
               .prints_rounded = true},
    Convention{
        .name = "xla",
        .summary = "arithmetic and comparisons of every operator; transcendentals apart",
        .source =
            "XLA's HloCostAnalysis, an instruction for each operation and function; of padded "
            "convolutions and of sums over n elements (n, where it counts n - 1) a little "
            "more than XLA",
        .measure = {.name = "flops",
                    .unit = Unit::kFlops,
                    .weights = {.mac = 2, .alu = 1, .compare = 1}},
        .beside = &kTranscendentals},
};

}  // namespace

std::span<const Convention> Conventions() { return kConventions; }

const Convention* FindConvention(std::string_view name) {
  for (const Convention& convention : kConventions) {
    if (convention.name == name) return &convention;
  }
  return nullptr;
}

Count Weigh(const Work& work, const Weights& weights) {
  Count total;
  const auto add = [&](Count count, int weight) {
    if (count.value() != 0) total += count * weight;  // most kernels do one kind of work
  };
  add(work.mac, weights.mac);
  add(work.alu, weights.alu);
  add(work.special, weights.special);
  add(work.compare, weights.compare);
  add(work.move, weights.move);
  return total;
}

}  // namespace steelyard
