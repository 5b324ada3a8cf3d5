// SPDX-License-Identifier: Apache-2.0
//
// What the fused attention kernels, forward and backward, have in common: their blocks, rows of
// queries by columns of keys, as aten/src/ATen/native/cpu/FlashAttentionKernel.cpp chooses them,
// which scores causality hides, and how
// heads lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "ir/layout.h"
#include "ops/contents/known_contents.h"
#include "ops/op_def.h"
#include "ops/rules/allocations.h"
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

// Scores that causality hides, for all heads: of query i those of the keys after key i, whatever
// the lengths are (the mask is ones(queries, keys).tril()).
inline Count HiddenByCausality(const TensorView& query, const TensorView& key) {
  const std::int64_t keys = key.size(2), rows = std::min(query.size(2), keys);
  if (rows == 0) return 0;
  // keys - 1 of the first row, one less of each row below it: the mean times the number of rows.
  const Count twice = Count(2 * keys - rows - 1) * rows;
  const Count hidden = twice.overflowed() ? twice : Count(twice.value() / 2);
  return hidden * query.size(0) * query.size(1);
}

// Scores that a mask, broadcast to them, is known to hide.
inline Count HiddenByMask(const OpView& op, const TensorView& mask, Count scores) {
  if (op.known() == nullptr || !mask.defined() || mask.count() == 0) return 0;
  return Count(op.known()->hidden(mask)) * (scores.value() / mask.count());
}

// The dtype in which scores are kept.
inline DType WideType(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
}

inline bool IsHalf(DType dtype) { return WideType(dtype) != dtype; }

// Scores that are hidden: by the mask, argument `mask`, or where argument `causal` is true.
inline Count HiddenScores(const OpView& op, const TensorView& query, const TensorView& key,
                          int mask, int causal, Count scores) {
  if (op.boolean(causal)) return HiddenByCausality(query, key);
  return mask < 0 ? Count(0) : HiddenByMask(op, op.tensor(mask), scores);
}

// Query and key come first. Two products per score; causal attention is counted in full, what its
// mask hides besides. A score is scaled, perhaps masked, and goes through a softmax: maximum,
// subtraction, exponential, sum and division.
template <int kMask, int kCausal>
Work FusedWork(const OpView& op) {
  const TensorView query = op.self(), key = op.tensor(1);
  const Count scores = Count(query.size(0)) * query.size(1) * query.size(2) * key.size(2);
  const bool masked = (kMask >= 0 && op.given(kMask)) || op.boolean(kCausal);
  const Count hidden = HiddenScores(op, query, key, kMask, kCausal, scores);
  return {.mac = scores * query.size(3) * 2,
          .alu = scores * (masked ? 6 : 5),
          .special = scores,
          .masked = hidden * query.size(3) * 2};
}

// After the gradient of the result. The scores anew, and the gradients of scores, query, key and
// value: five products.
template <int kMask, int kCausal>
Work FusedBackwardWork(const OpView& op) {
  const TensorView query = op.tensor(1), key = op.tensor(2);
  const Count scores = Count(query.size(0)) * query.size(1) * query.size(2) * key.size(2);
  const Count hidden = HiddenScores(op, query, key, kMask, kCausal, scores);
  return {.mac = scores * query.size(3) * 5,
          .alu = scores * 5,
          .special = scores,
          .masked = hidden * query.size(3) * 5};
}

// [batch, heads, length, size], its lengths outside its heads.
inline void AddHeadsLast(DType dtype, const Dims& sizes, Outputs& out) {
  const Dims made = ContiguousStrides(Dims{sizes[0], sizes[2], sizes[1], sizes[3]});
  out.Add(dtype, sizes, Dims{made[0], made[2], made[1], made[3]});
}

// Whether its lengths lie densely outside its heads.
inline bool LiesHeadsLast(const TensorView& t) {
  Dims sizes(t.sizes()), strides(t.strides());
  std::swap(sizes[1], sizes[2]);
  std::swap(strides[1], strides[2]);
  return IsContiguous(sizes, strides);
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
