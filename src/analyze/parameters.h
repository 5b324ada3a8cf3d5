// SPDX-License-Identifier: Apache-2.0
//
// What a model's parameters and buffers are: counts and bytes, tied tensors once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

struct TensorTotal {
  std::int64_t count = 0;  // elements
  std::int64_t bytes = 0;
};

struct DTypeTotal {
  DType dtype;
  TensorTotal total;
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

// `kernels` is a program that `decompose` gave.
ParameterReport CountParameters(const Program& kernels);

}  // namespace steelyard
