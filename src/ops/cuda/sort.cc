// SPDX-License-Identifier: Apache-2.0
//
// How many rows there are and how long they are decides which way long rows are sorted: one by one,
// all at once and then by their rows, or by segments.

#include "ops/cuda/sort.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/cub.h"
#include "ops/rules/allocations.h"
#include "support/rounding.h"

namespace steelyard::cuda {
namespace {

using Scratch = std::optional<Allocations::Scratch>;

constexpr std::int64_t kShort = 4096;  // a block of threads sorts a row
constexpr std::int64_t kPositionBytes = 8;
// A row and a position in it, each of 4 bytes.
constexpr std::int64_t kPlaceBytes = 8;
// From so many rows on CUB sorts segments, from such a length on row by row.
constexpr std::int64_t kManyRows = 128, kLongest = 1000000;

// Strides of a dense copy in which `dim` is the last to lie, the others as they lie
// (infer_dense_strides_dim_last).
Dims StridesWithLast(const Layout& self, int dim) {
  std::vector<std::size_t> order(self.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = static_cast<std::size_t>(dim);
  const auto stride = [&](std::size_t i) { return i == last ? -1 : self.strides[i]; };
  std::ranges::stable_sort(order, std::ranges::greater(), stride);
  Dims strides(self.strides);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[static_cast<int>(order[i])] = step;
    step *= self.sizes[order[i]];
  }
  return strides;
}

std::int64_t CountOf(const Layout& self) { return NumElements(self.sizes).value_or(0); }

void Use(std::int64_t bytes, Allocations& memory) { memory.Free(memory.Allocate(bytes)); }

// Keys of the tensor, with what is sorted along.
struct Keys {
  std::int64_t width, rows, size;
  std::int64_t count() const { return rows * size; }
  int bits() const { return static_cast<int>(width) * 8; }
};

// Row by row.
void SortEach(const Keys& keys, const Target& target, Allocations& memory) {
  const auto positions = memory.Allocate(keys.size * kPositionBytes);
  for (std::int64_t row = 0; row < keys.rows; ++row) {
    Use(SortPairsBytes(keys.size, keys.bits(), target, {.key = keys.width}), memory);
  }
  memory.Free(positions);
}

// All elements at once with their places, and then the places by their rows.
void SortAll(const Keys& keys, const Target& target, Allocations& memory) {
  const std::int64_t count = keys.count();
  const auto places = memory.Allocate(count * kPlaceBytes);
  const auto sorted = memory.Allocate(count * kPlaceBytes);
  const auto discarded = memory.Allocate(count * keys.width);
  Use(SortPairsBytes(count, keys.bits(), target, {.key = keys.width}), memory);
  memory.Free(discarded);
  const auto row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(keys.rows - 1)));
  Use(SortKeysBytes(count, row_bits, target), memory);
  memory.Free(sorted);
  memory.Free(places);
}

void SortSegments(const Keys& keys, Allocations& memory) {
  const auto positions = memory.Allocate(keys.count() * kPositionBytes);
  Use(SortSegmentsBytes(keys.count(), {.key = keys.width}), memory);
  memory.Free(positions);
}

// As many rows at a time as an int counts elements of.
void SortLong(Keys keys, const Target& target, Allocations& memory) {
  const std::int64_t most = std::numeric_limits<int>::max() / keys.size;
  if (most == 0)
    Refuse(fmt::format("CUDA sorts no {} elements, more than an int counts", keys.size));
  for (std::int64_t left = keys.rows; left > 0; left -= most) {
    keys.rows = std::min(left, most);
    if (keys.rows == 1 || keys.size >= kLongest) {
      SortEach(keys, target, memory);
    } else if (keys.rows < kManyRows) {
      SortAll(keys, target, memory);
    } else {
      SortSegments(keys, memory);
    }
  }
}

// Long rows are shared by several blocks of threads, which count digits.
bool SharesRows(std::int64_t rows, std::int64_t size) {
  struct Least {
    std::int64_t rows, size;
  };
  constexpr std::array kLeast{Least{20, 20000}, Least{40, 10000}, Least{80, 8000},
                              Least{200, 5000}, Least{800, 3000}, Least{4000, 800}};
  constexpr std::int64_t kLeastOfMany = 400;
  const auto* const found =
      std::ranges::find_if(kLeast, [&](const Least& least) { return rows <= least.rows; });
  return size >= (found == kLeast.end() ? kLeastOfMany : found->size);
}

}  // namespace

void SortRows(const OpView& op, const Layout& self, DType dtype, int dim, Allocations& memory) {
  const std::int64_t count = CountOf(self);
  if (self.sizes.empty() || count == 0) return;
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t size = self.sizes[at];
  if (size <= kShort) return Use(size * kPositionBytes, memory);
  const bool is_dense = IsNonOverlappingAndDense(self.sizes, self.strides);
  const bool copies = !is_dense || self.strides[at] != 1;
  const Dims strides = copies ? StridesWithLast(self, dim) : Dims(self.strides);
  const std::int64_t bytes = allocations::Bytes(count, dtype);
  Scratch copy, values, places;
  if (copies) copy = memory.Allocate(bytes, "aten::empty_strided");
  if (!std::ranges::equal(EmptyLikeStrides(self.sizes, self.strides), strides)) {
    values = memory.Allocate(bytes, "aten::empty_strided");
    places = memory.Allocate(count * kPositionBytes, "aten::empty_strided");
  }
  SortLong({allocations::Bytes(1, dtype), count / size, size}, op.target(), memory);
  for (const Scratch& made : {places, values, copy}) allocations::Free(made, memory);
}

void FindLargest(const OpView& op, const Layout& self, DType dtype, int dim, Allocations& memory) {
  const std::int64_t count = CountOf(self), width = allocations::Bytes(1, dtype);
  if (op.output().count() == 0) return;
  Scratch copy;
  if (!IsContiguous(self.sizes, self.strides)) {
    copy = memory.Allocate(count * width, "aten::empty");
  }
  const std::int64_t size = self.sizes.empty() ? 1 : self.sizes[static_cast<std::size_t>(dim)];
  const std::int64_t rows = size == 0 ? 0 : count / size;
  if (rows > 0 && SharesRows(rows, size)) {
    constexpr std::int64_t kThreads = 256, kBlocksPerProcessor = 6, kDigits = 256;
    const std::int64_t fitting = op.target().multiprocessors * kBlocksPerProcessor * kThreads;
    const std::int64_t per_thread = std::clamp<std::int64_t>(DivideUp(count, fitting), 4, 64);
    const std::int64_t blocks = rows * DivideUp(size, per_thread * kThreads);
    std::vector<Allocations::Scratch> scratch;
    for (const std::int64_t bytes :
         {rows * width, rows * 8, rows * 2 * std::max<std::int64_t>(width, 4), blocks * kDigits * 2,
          rows * kDigits * 4, blocks * 4, blocks * 4}) {
      scratch.push_back(memory.Allocate(bytes));
    }
    for (int i = 0; i < 2; ++i) Use(ScanBytes(blocks), memory);
    for (std::size_t i = scratch.size(); i-- > 0;) memory.Free(scratch[i]);
  }
  allocations::Free(copy, memory);
}

}  // namespace steelyard::cuda
