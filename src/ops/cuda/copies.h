// SPDX-License-Identifier: Apache-2.0
//
// Copies that kernels on CUDA make of their operands: no block goes between, as on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "ops/op_def.h"

namespace steelyard::cuda {

// `tensor.contiguous()` within a kernel; nothing if it is.
std::optional<Allocations::Scratch> Contiguous(const TensorView& tensor, Allocations& memory);

// The outputs in order and contiguous copies of the arguments `operands`, which die last first.
enum class First : std::uint8_t { kOutputs, kCopies };
void AllocateDense(const OpView& op, First first, std::span<const int> operands,
                   Allocations& memory);
template <int... kOperands>
void OutputsThenCopies(const OpView& op, Allocations& memory) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  AllocateDense(op, First::kOutputs, kList, memory);
}
template <int... kOperands>
void CopiesThenOutputs(const OpView& op, Allocations& memory) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  AllocateDense(op, First::kCopies, kList, memory);
}

// Of kernels that read and write images either row by row or, where the first argument suggests it
// and has at least `kLeast` channels, channels last.
void AllocateImages(const OpView& op, std::int64_t least, Allocations& memory);
inline void Rows(const OpView& op, Allocations& memory) {  // that never walk channels last
  AllocateImages(op, std::numeric_limits<std::int64_t>::max(), memory);
}
template <int kLeast>
void Images(const OpView& op, Allocations& memory) {
  AllocateImages(op, kLeast, memory);
}

}  // namespace steelyard::cuda
