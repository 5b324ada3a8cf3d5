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
#include "support/rounding.h"

namespace steelyard::cuda {
namespace {

constexpr std::string_view kFactory = "aten::empty";
constexpr std::int64_t kFewIndices = 3072;
constexpr std::int64_t kRowsOfPart = 10;
constexpr std::int64_t kCountBytes = 8;

void Use(std::int64_t bytes, Allocations& memory) { memory.Free(memory.Allocate(bytes)); }

// What is looked up, and how its gradients are added: of a bag segments have no way of their own.
struct Lookup {
  std::int64_t count, width;  // of the indices
  bool by_frequency, in_bags;
};

// Where the blocks of threads that add up whole segments are few, and parts many beside them.
bool AddsSegmentsAtOnce(const Lookup& lookup, std::int64_t segments, std::int64_t parts,
                        std::int64_t columns, const Target& target) {
  constexpr std::int64_t kWarp = 32, kMostThreads = 1024, kFew = 4, kMany = 4;
  const std::int64_t threads = RoundUp(std::max<std::int64_t>(columns, 1), kWarp);
  const std::int64_t blocks = DivideUp(segments * threads, std::min(threads, kMostThreads));
  return !lookup.in_bags && blocks < kFew * target.multiprocessors && parts > kMany * blocks;
}

// embedding_backward_cuda_kernel
void AddSegments(const OpView& op, const Lookup& lookup, Allocations& memory) {
  const std::int64_t rows = op.output().size(0), width = op.output().size(1);
  const std::int64_t index = lookup.width, indices = lookup.count;
  memory.Output(0, kFactory);
  const auto offsets = memory.Allocate(indices * index, kFactory);
  const auto count = memory.Allocate(kCountBytes, kFactory);
  const auto discarded = memory.Allocate(indices * index);
  Use(UniqueByKeyBytes(indices, op.target(), index), memory);
  memory.Free(discarded);
  const std::int64_t segments = std::min(indices, rows);
  const auto parts = memory.Allocate(segments * index, kFactory);
  const auto part_offsets = memory.Allocate(segments * index, kFactory);
  Use(ScanBytes(segments, index), memory);
  const auto part_count = memory.Allocate(kCountBytes, kFactory);
  const std::int64_t most = indices / kRowsOfPart + segments;
  const auto starts = memory.Allocate(most * index, kFactory);
  const bool at_once = AddsSegmentsAtOnce(lookup, segments, most, width, op.target());
  const DType wide = BitsOf(op.output().dtype()) < 32 ? DType::kFloat32 : op.output().dtype();
  const auto parts_of = memory.Allocate(
      at_once ? most * index : allocations::Bytes(Count(most) * width, wide), kFactory);
  if (at_once && wide != op.output().dtype())
    Use(allocations::Bytes(op.output().count(), wide), memory);
  memory.Free(parts_of);
  for (const auto scratch : {starts, part_count, part_offsets, parts, count, offsets}) {
    memory.Free(scratch);
  }
}

void SortAndAdd(const OpView& op, const Lookup& lookup, Allocations& memory) {
  const std::int64_t bytes = lookup.count * lookup.width;
  const auto sorted = memory.Allocate(bytes, kFactory);
  const auto places = memory.Allocate(bytes, kFactory);
  const auto range = memory.Allocate(bytes, "aten::resize_");
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(op.output().size(0))));
  Use(SortPairsBytes(lookup.count, bits, op.target(), {lookup.width, lookup.width}), memory);
  memory.Free(range);
  std::optional<Allocations::Scratch> frequencies;
  if (lookup.by_frequency) {
    // Two scans by key count equal indices.
    frequencies = memory.Allocate(bytes, kFactory);
    for (int i = 0; i < 2; ++i) {
      Use(ScanByKeyBytes(lookup.count, op.target(), lookup.width), memory);
    }
  }
  AddSegments(op, lookup, memory);
  allocations::Free(frequencies, memory);
  memory.Free(places);
  memory.Free(sorted);
}

}  // namespace

void EmbeddingGradient(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), indices = op.tensor(1);
  const auto listed = Contiguous(indices, memory);
  const auto dense = Contiguous(gradient, memory);
  const Lookup lookup{indices.count(), BitsOf(indices.dtype()) / 8, op.boolean(4), false};
  if (lookup.count <= kFewIndices && !lookup.by_frequency) {
    memory.Output(0, kFactory);
  } else {
    SortAndAdd(op, lookup, memory);
  }
  allocations::Free(dense, memory);
  allocations::Free(listed, memory);
}

void BagGradient(const OpView& op, Allocations& memory) {
  const TensorView indices = op.tensor(1);
  const Lookup lookup{indices.count(), BitsOf(indices.dtype()) / 8, op.boolean(3), true};
  if (lookup.count == 0) return memory.Output(0, kFactory);
  SortAndAdd(op, lookup, memory);
}

}  // namespace steelyard::cuda
