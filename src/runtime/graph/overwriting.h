// SPDX-License-Identifier: Apache-2.0
//
// Which operators that overwrite a tensor a compiler turns into ones that make a new tensor.
#pragma once

#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard::graph {

// What is known of the values of a program that overwrites some.
struct Overwriting {
  std::vector<bool> makes_new;     // by node: it overwrites, and may give a new tensor instead
  std::vector<ValueId> tensor_of;  // by value: the first value that was the same tensor
  std::vector<bool> resident;      // by storage: there before the step and after it
  std::vector<bool> stays;         // by storage: something overwrites it in place
};

// A tensor that only the step has, that fills its storage and of which no view is read afterwards
// need not be overwritten.
Overwriting FindOverwriting(const Program& kernels, const std::vector<const OpDef*>& defs);

}  // namespace steelyard::graph
