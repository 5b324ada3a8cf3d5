// SPDX-License-Identifier: Apache-2.0

#include "analyze/counting.h"

#include <array>

#include "analyze/deepspeed_rules.h"

namespace steelyard {
namespace {

// Products that the registry of torch.utils.flop_counter has no formula for.
constexpr std::array kNotInFlopCounter{Uncounted{"aten::_grouped_mm"},
                                       Uncounted{"aten::mkldnn_rnn_layer"},
                                       Uncounted{"aten::mv"},
                                       Uncounted{"aten::addmv"},
                                       Uncounted{"aten::dot"},
                                       Uncounted{"aten::addmm_"},
                                       Uncounted{"aten::baddbmm_"},
                                       Uncounted{"aten::addmv_"},
                                       Uncounted{"aten::_addmm_activation"}};

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
        .uncounted = kNotInFlopCounter},
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
