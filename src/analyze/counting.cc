// SPDX-License-Identifier: Apache-2.0

#include "analyze/counting.h"

#include <array>

namespace steelyard {
namespace {

constexpr std::array kConventions{
    Convention{
        .name = "torch",
        .summary = "contractions, 2 x multiply-adds",
        .source = "torch.utils.flop_counter, 2.15: matrix products, convolutions and attention",
        .weights = {.mac = 2},
        .exceptions = {}},
    Convention{.name = "all",
               .summary = "arithmetic of every operator; a multiply-add is 2, a special function 1",
               .source = "every addition, multiplication, comparison and function evaluation once",
               .weights = {.mac = 2, .alu = 1, .special = 1, .compare = 1},
               .exceptions = {}},
    Convention{.name = "deepspeed",
               .summary = "multiply-adds of contractions (MACs)",
               .source = "DeepSpeed Flops Profiler, deepspeed.profiling.flops_profiler: MACs",
               .weights = {.mac = 1},
               .exceptions = {}},
    Convention{
        .name = "raf",
        .summary =
            "tensor-expression arithmetic: special functions, casts and float comparisons are free",
        .source = "RAF estimate_flops over TVM's ComputeDAG",
        .weights = {.mac = 2, .alu = 1},
        .exceptions = {}},
};

}  // namespace

std::span<const Convention> Conventions() { return kConventions; }

const Convention* FindConvention(std::string_view name) {
  for (const Convention& convention : kConventions) {
    if (convention.name == name) return &convention;
  }
  return nullptr;
}

Count Weigh(const Work& work, Family family, const Convention& convention) {
  const Weights* weights = &convention.weights;
  for (const FamilyException& exception : convention.exceptions) {
    if (exception.family == family) weights = &exception.weights;
  }
  return work.mac * weights->mac + work.alu * weights->alu + work.special * weights->special +
         work.compare * weights->compare + work.move * weights->move;
}

}  // namespace steelyard
