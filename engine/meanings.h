// SPDX-License-Identifier: Apache-2.0
//
// What the kernels named steelyard::* compute: steps of eager PyTorch that are no operators of its
// own. A row each; no other file of the engine knows a kernel by its name.
#pragma once

#include <ATen/core/stack.h>

#include <string_view>

namespace steelyard::engine {

// Takes its operands off the stack and puts its results there.
using Meaning = void (*)(torch::jit::Stack* stack);

// Null where there is none.
Meaning MeaningOf(std::string_view op);

}  // namespace steelyard::engine
