// SPDX-License-Identifier: Apache-2.0
//
// What a model's parameters and buffers are: counts and bytes, tied tensors once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

struct TensorTotal {
  std::int64_t count = 0;  // elements
  std::int64_t bytes = 0;
};

// Of one dtype or one way of packing. Names stand in the program, or for ever.
struct DTypeTotal {
  std::string_view name;
  TensorTotal total;
  int tensors = 0;
};

struct ParameterReport {
  TensorTotal parameters;
  TensorTotal buffers;
  TensorTotal trainable;
  std::vector<DTypeTotal> by_dtype;  // of parameters, largest first
  int tensors = 0;                   // distinct parameter tensors
  int tied = 0;                      // names that are a second name of one
  // Mixture of experts: parameters that the work of one token touches. Equal to parameters.count
  // where there are no experts.
  std::int64_t active = 0;
  int experts = 0;         // per layer; 0: none
  int active_experts = 0;  // chosen for a token
};

// Bytes of its elements, or of what is stored of it.
std::int64_t BytesOf(const Program& kernels, const NamedTensor& tensor);

// `kernels` is a program that `decompose` gave; the report is valid while it is.
ParameterReport CountParameters(const Program& kernels);

}  // namespace steelyard
