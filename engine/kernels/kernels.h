// SPDX-License-Identifier: Apache-2.0
//
// What the kernels named steelyard::* compute: steps of eager PyTorch that are no operators of its
// own; and operators that not every processor has. A row each, in the file of its family; no other
// file of the engine knows a kernel by name.
#pragma once

#include <ATen/core/stack.h>

#include <span>
#include <string_view>

namespace steelyard::engine {

// What is said of a step without a kernel.
inline constexpr char kNoKernel[] = "the engine cannot run this step of an operator yet";

// Takes its operands off the stack and puts its results there.
using Kernel = void (*)(torch::jit::Stack* stack);

struct KernelRow {
  std::string_view op;
  Kernel kernel;
};

// Null where there is none.
Kernel KernelOf(std::string_view op);

// The rows of the families.
std::span<const KernelRow> ConvolutionKernels();
std::span<const KernelRow> GeneralKernels();
std::span<const KernelRow> IndexingKernels();
std::span<const KernelRow> NetworkKernels();
std::span<const KernelRow> PairKernels();

}  // namespace steelyard::engine
