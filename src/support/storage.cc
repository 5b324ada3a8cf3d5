// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "steelyard/tables.h"
#include "support/checked.h"

namespace steelyard {
namespace {

// Elements from the first to the last that a non-empty layout reaches.
CheckedInt Extent(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
  CheckedInt extent = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    extent += CheckedInt(sizes[i] - 1) * CheckedInt(strides[i]);
  }
  return extent;
}

// Whole bytes of `count` elements.
CheckedInt BytesOf(DType dtype, CheckedInt count) {
  const std::int64_t bits = BitsOf(dtype);
  if (bits >= 8) return count * CheckedInt(bits / 8);
  if (!count.ok()) return count;
  // Eight elements are as many bytes as one has bits.
  const std::int64_t rest = count.value() % 8;
  return CheckedInt(count.value() / 8) * CheckedInt(bits) + CheckedInt((rest * bits + 7) / 8);
}

}  // namespace

std::int64_t StorageBytes(DType dtype, std::span<const std::int64_t> sizes,
                          std::span<const std::int64_t> strides) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  return BytesOf(dtype, Extent(sizes, strides)).Get().value_or(INT64_MAX);
}

bool CheckLayout(DType dtype, std::span<const std::int64_t> sizes,
                 std::span<const std::int64_t> strides) {
  if (sizes.size() != strides.size()) return false;
  // Counted elements matter too: an expanded tensor takes little memory and much work.
  CheckedInt count = 1;
  bool negative = false, empty = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    negative |= sizes[i] < 0 || strides[i] < 0;
    empty |= sizes[i] == 0;
    count *= CheckedInt(sizes[i]);
  }
  if (negative || empty) return !negative;
  return BytesOf(dtype, count).ok() && BytesOf(dtype, Extent(sizes, strides)).ok();
}

}  // namespace steelyard
