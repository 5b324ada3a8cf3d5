// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the fused attention kernels, forward and backward: rows of queries by columns of
// keys, as aten/src/ATen/native/cpu/FlashAttentionKernel.cpp chooses them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/rules/allocations.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard::attention {

struct QueryBlock {
  std::int64_t least_length, rows;
};
inline constexpr std::array kQueryBlocks{QueryBlock{768, 256}, QueryBlock{192, 64},
                                         QueryBlock{0, 32}};
// Keys per block.
inline constexpr std::int64_t kKeyBlock = 512;

inline std::int64_t QueryRows(std::int64_t length) {
  const auto* block = std::ranges::find_if(
      kQueryBlocks, [&](const QueryBlock& b) { return length >= b.least_length; });
  return std::min(length, block->rows);
}
inline std::int64_t KeyColumns(std::int64_t keys) { return std::min(keys, kKeyBlock); }

// The dtype in which scores are kept.
inline DType WideType(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
}

// Operands are copied unless their last dimension lies densely; a mask's may also be expanded.
inline std::optional<Allocations::Scratch> Packed(const TensorView& t, Allocations& memory) {
  return t.stride(-1) == 1 ? std::nullopt : allocations::Contiguous(t, memory);
}
inline std::optional<Allocations::Scratch> PackedMask(const TensorView& mask, Allocations& memory) {
  if (!mask.defined() || mask.rank() == 0) return std::nullopt;
  return mask.size(-1) == 1 || mask.stride(-1) == 0 ? std::nullopt : Packed(mask, memory);
}

}  // namespace steelyard::attention
