// SPDX-License-Identifier: Apache-2.0
//
// What goes back to the device, and when: old blocks (garbage collection), oversize ones, all.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "memory/caching/caching_allocator.h"

namespace steelyard {

// Gives back the free segments of the large pool that have been free for as long as the mean of
// them or longer, until the reserved bytes are below the threshold.
void CachingAllocator::CollectGarbage() {
  const auto threshold = static_cast<std::int64_t>(settings_.garbage_collection_threshold *
                                                   static_cast<double>(*allowed_));
  if (reserved_ <= threshold) return;
  const std::int64_t target = reserved_ - threshold;
  const Pool& pool = pools_[1];
  std::vector<BlockId> candidates;
  std::int64_t total_age = 0;
  for (StreamId stream = 0; stream < pool.free.streams(); ++stream) {
    for (const auto& entry : pool.free.Of(stream)) {
      const Block& block = blocks_[entry.block];
      if (IsSplit(block) || block.expandable != kNone) continue;
      candidates.push_back(entry.block);
      total_age += pool.searches - block.born;
    }
  }
  std::int64_t reclaimed = 0;
  bool released = true;
  while (reclaimed < target && released && !candidates.empty()) {
    const double mean = static_cast<double>(total_age) / static_cast<double>(candidates.size());
    std::vector<BlockId> kept;
    for (const BlockId id : candidates) {
      const std::int64_t age = pool.searches - blocks_[id].born;
      if (static_cast<double>(age) < mean) {
        kept.push_back(id);
        continue;
      }
      reclaimed += blocks_[id].size;
      total_age -= age;
      ReleaseSegment(id);
    }
    released = kept.size() < candidates.size();
    candidates = std::move(kept);
  }
}

// Gives back the smallest free block that is oversize and large enough, or else the largest ones
// until they are enough together. Returns whether they are.
bool CachingAllocator::ReleaseOversize(const Request& request) {
  if (settings_.max_split_size == AllocatorSettings::kUnlimited) return false;
  const FreeBlocks& free = pools_[request.pool].free;
  const std::int64_t wanted = std::max(request.size, settings_.max_split_size);
  const FreeBlocks::List& list = free.Of(request.stream);
  std::size_t at = free.Find(request.stream, {.size = wanted});
  if (at < list.size() && blocks_[list[at].block].expandable == kNone) {
    ReleaseSegment(list[at].block);
    return true;
  }
  std::int64_t released = 0;
  while (released < wanted && at > 0 && list[at - 1].key.size >= settings_.max_split_size) {
    --at;
    if (blocks_[list[at].block].expandable != kNone) continue;
    released += list[at].key.size;
    ReleaseSegment(list[at].block);
  }
  return released >= wanted;
}

void CachingAllocator::EmptyCache(PoolId pool) {
  if (pool != kDefaultPool && !private_pools_[pool].gone) return;
  Synchronize(pool);
  for (PoolId id = kDefaultPool; id < private_pools_.size(); ++id) {
    const bool released = id == kDefaultPool || private_pools_[id].gone;
    if (!released || (pool != kDefaultPool && id != pool)) continue;
    for (const std::uint32_t part : {2 * id + 1, 2 * id}) ReleaseFree(part);
  }
}

void CachingAllocator::ReleaseFree(std::uint32_t pool) {
  std::vector<BlockId> whole;
  std::vector<BlockId> expandable;
  const FreeBlocks& free = pools_[pool].free;
  for (StreamId stream = 0; stream < free.streams(); ++stream) {
    for (const auto& entry : free.Of(stream)) {
      const Block& block = blocks_[entry.block];
      if (block.expandable != kNone) {
        expandable.push_back(entry.block);
      } else if (!IsSplit(block)) {
        whole.push_back(entry.block);
      }
    }
  }
  for (const BlockId id : whole) ReleaseSegment(id);
  for (const BlockId id : expandable) UnmapPages(id);
}

void CachingAllocator::ReleaseSegment(BlockId id) {
  const Block& block = blocks_[id];
  const Pool& pool = pools_[block.pool];
  Erase(id);
  device_.Free(block.address);
  reserved_ -= block.size;
  ++statistics_.num_device_free;
  statistics_.segment.Change(pool.is_small, -1);
  statistics_.reserved_bytes.Change(pool.is_small, -block.size);
  if (block.size >= settings_.max_split_size) statistics_.oversize_segments.Fall(1);
  Remove(id);
}

}  // namespace steelyard
