// SPDX-License-Identifier: Apache-2.0
//
// What the kernels named steelyard::* compute: steps of eager PyTorch that are no operators of its
// own. A row each, in the file of its family; no other file of the engine knows a kernel by name.
#pragma once

#include <ATen/core/stack.h>

#include <span>
#include <string_view>

namespace steelyard::engine {

// What is said of a step without a meaning.
inline constexpr char kNoMeaning[] = "the engine cannot run this step of an operator yet";

// Takes its operands off the stack and puts its results there.
using Meaning = void (*)(torch::jit::Stack* stack);

struct MeaningRow {
  std::string_view op;
  Meaning meaning;
};

// Null where there is none.
Meaning MeaningOf(std::string_view op);

// The rows of the families.
std::span<const MeaningRow> ConvolutionMeanings();
std::span<const MeaningRow> GeneralMeanings();
std::span<const MeaningRow> IndexingMeanings();
std::span<const MeaningRow> NetworkMeanings();
std::span<const MeaningRow> PairMeanings();

}  // namespace steelyard::engine
