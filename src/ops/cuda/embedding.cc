// SPDX-License-Identifier: Apache-2.0
//
// Equal indices, once sorted, are segments. Long ones are added up in parts of ten rows, in
// float32, unless there are so few and so long segments that each is added up at once.

#include "ops/cuda/embedding.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/rules/allocations.h"

namespace steelyard::cuda {
namespace {

constexpr std::string_view kFactory = "aten::empty";
constexpr std::int64_t kFewIndices = 3072;
constexpr std::int64_t kRowsOfPart = 10;
constexpr std::int64_t kSegmentsPerMultiprocessor = 4, kLongSegment = 30;
constexpr std::int64_t kIndexBytes = 8;

void Use(std::int64_t bytes, Allocations& memory) { memory.Free(memory.Allocate(bytes)); }

bool AddsSegmentsAtOnce(std::int64_t indices, std::int64_t segments, const Target& target) {
  return segments < kSegmentsPerMultiprocessor * target.multiprocessors &&
         indices / segments >= kLongSegment;
}

// embedding_backward_cuda_kernel
void AddSegments(const OpView& op, std::int64_t indices, Allocations& memory) {
  const std::int64_t rows = op.output().size(0), width = op.output().size(1);
  memory.Output(0, kFactory);
  const auto offsets = memory.Allocate(indices * kIndexBytes, kFactory);
  const auto count = memory.Allocate(kIndexBytes, kFactory);
  const auto discarded = memory.Allocate(indices * kIndexBytes);
  Use(UniqueByKeyBytes(indices, op.target()), memory);
  memory.Free(discarded);
  const std::int64_t segments = std::min(indices, rows);
  const auto parts = memory.Allocate(segments * kIndexBytes, kFactory);
  const auto part_offsets = memory.Allocate(segments * kIndexBytes, kFactory);
  Use(ScanBytes(segments), memory);
  const auto part_count = memory.Allocate(kIndexBytes, kFactory);
  const std::int64_t most = indices / kRowsOfPart + segments;
  const auto starts = memory.Allocate(most * kIndexBytes, kFactory);
  const bool at_once = AddsSegmentsAtOnce(indices, segments, op.target());
  const DType wide = BitsOf(op.output().dtype()) < 32 ? DType::kFloat32 : op.output().dtype();
  const auto parts_of = memory.Allocate(
      at_once ? most * kIndexBytes : allocations::Bytes(Count(most) * width, wide), kFactory);
  if (at_once && wide != op.output().dtype())
    Use(allocations::Bytes(op.output().count(), wide), memory);
  memory.Free(parts_of);
  for (const auto scratch : {starts, part_count, part_offsets, parts, count, offsets}) {
    memory.Free(scratch);
  }
}

}  // namespace

void EmbeddingGradient(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), table_indices = op.tensor(1);
  const std::int64_t indices = table_indices.count();
  const auto dense = Contiguous(gradient, memory);
  const auto listed = Contiguous(table_indices, memory);
  const bool by_frequency = op.boolean(4);
  if (indices <= kFewIndices && !by_frequency) {
    memory.Output(0, kFactory);
    allocations::Free(listed, memory);
    allocations::Free(dense, memory);
    return;
  }
  const auto sorted = memory.Allocate(indices * kIndexBytes, kFactory);
  const auto places = memory.Allocate(indices * kIndexBytes, kFactory);
  const auto range = memory.Allocate(indices * kIndexBytes, "aten::resize_");
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(op.output().size(0))));
  Use(SortPairsBytes(indices, bits, op.target()), memory);
  memory.Free(range);
  std::optional<Allocations::Scratch> frequencies;
  if (by_frequency) {
    // Two scans by key count equal indices.
    frequencies = memory.Allocate(indices * kIndexBytes, kFactory);
    for (int i = 0; i < 2; ++i) Use(ScanByKeyBytes(indices, op.target()), memory);
  }
  AddSegments(op, indices, memory);
  allocations::Free(frequencies, memory);
  memory.Free(places);
  memory.Free(sorted);
  allocations::Free(listed, memory);
  allocations::Free(dense, memory);
}

}  // namespace steelyard::cuda
