// SPDX-License-Identifier: Apache-2.0
//
// Requests and frees: which block is found, how it is cut, what is counted. The rules are those of
// DeviceCachingAllocator in PyTorch (c10/cuda/CUDACachingAllocator.cpp), read and executed.

#include "memory/caching/caching_allocator.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "support/assert.h"

namespace steelyard {

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, DeviceMemory device,
                                   StreamProgress progress)
    : settings_(settings), device_(std::move(device)), progress_(progress) {
  CreatePool();
  if (settings.memory_fraction.value_or(1) < 1) SetMemoryFraction(*settings.memory_fraction);
}

void CachingAllocator::SetMemoryFraction(double fraction) {
  allowed_ = static_cast<std::int64_t>(fraction * static_cast<double>(device_.total()));
}

std::optional<BlockId> CachingAllocator::Allocate(std::int64_t bytes, StreamId stream) {
  SY_ASSERT(bytes > 0, "nothing is asked for where nothing is needed");
  if (!IsCaptured(stream)) ProcessEvents();
  const std::int64_t size = RoundedSize(settings_, bytes);
  const Request request{.size = size,
                        .segment = SegmentSize(settings_, size),
                        .stream = stream,
                        .pool = PoolOf(size, stream),
                        .expandable = settings_.expandable_segments};
  BlockId block = TakeFree(request);
  if (block == kNone) {
    if (collects_garbage()) CollectGarbage();
    block = TakeNewOrRelease(request);
  }
  if (block == kNone) {
    Fail(request);
    return std::nullopt;
  }
  const bool was_split = IsSplit(blocks_[block]);
  const bool is_expandable = blocks_[block].expandable != kNone;
  const bool is_small = pools_[blocks_[block].pool].is_small;
  if (ShouldSplit(blocks_[block], size)) {
    const BlockId rest = block;
    block = Split(rest, size);
    if (!is_expandable && was_split) {
      statistics_.inactive_split_bytes.Change(is_small, -size);
    } else if (!is_expandable) {
      statistics_.inactive_split_bytes.Change(is_small, blocks_[rest].size);
      statistics_.inactive_split.Change(is_small, 1);
    }
  } else if (!is_expandable && was_split) {
    statistics_.inactive_split_bytes.Change(is_small, -blocks_[block].size);
    statistics_.inactive_split.Change(is_small, -1);
  }
  Hand(block, bytes);
  return block;
}

void CachingAllocator::Hand(BlockId id, std::int64_t requested) {
  Block& block = blocks_[id];
  const bool is_small = pools_[block.pool].is_small;
  block.allocated = true;
  block.requested = requested;
  statistics_.allocation.Change(is_small, 1);
  statistics_.allocated_bytes.Change(is_small, block.size);
  statistics_.active.Change(is_small, 1);
  statistics_.active_bytes.Change(is_small, block.size);
  statistics_.requested_bytes.Change(is_small, requested);
  if (block.size >= settings_.max_split_size) statistics_.oversize_allocations.Rise(1);
}

void CachingAllocator::Free(BlockId id) {
  Block& block = blocks_[id];
  SY_ASSERT(block.exists && block.allocated, "only what was allocated is freed");
  const bool is_small = pools_[block.pool].is_small;
  block.allocated = false;
  statistics_.allocation.Change(is_small, -1);
  statistics_.allocated_bytes.Change(is_small, -block.size);
  if (block.size >= settings_.max_split_size) statistics_.oversize_allocations.Fall(1);
  if (!block.has_uses) {
    MakeFree(id);
  } else if (std::ranges::find(in_use_, PoolUse::kCapture, &PoolInUse::use) != in_use_.end()) {
    deferred_.push_back(id);
  } else {
    AwaitStreams(id);
  }
}

void CachingAllocator::MakeFree(BlockId id) {
  Block& block = blocks_[id];
  const bool is_small = pools_[block.pool].is_small;
  const bool is_expandable = block.expandable != kNone;
  const std::int64_t size = block.size;
  std::int64_t merged = 0;
  std::int64_t merged_bytes = 0;
  for (const BlockId neighbour : {block.prev, block.next}) {
    const std::int64_t bytes = Merge(id, neighbour);
    if (bytes > 0) ++merged;
    merged_bytes += bytes;
  }
  Insert(id);
  if (!is_expandable) {
    const bool split = IsSplit(block);
    statistics_.inactive_split.Change(is_small, (split ? 1 : 0) - merged);
    statistics_.inactive_split_bytes.Change(is_small, (split ? block.size : 0) - merged_bytes);
  }
  statistics_.active.Change(is_small, -1);
  statistics_.active_bytes.Change(is_small, -size);
  statistics_.requested_bytes.Change(is_small, -block.requested);
  block.requested = 0;
}

std::uint32_t CachingAllocator::PoolOf(std::int64_t size, StreamId stream) const {
  PoolId owner = kDefaultPool;
  for (const PoolInUse& used : in_use_) {  // the one that was begun last
    if (!used.stream || *used.stream == stream) owner = used.pool;
  }
  return 2 * owner + (size <= kSmallLimit ? 0 : 1);
}

BlockId CachingAllocator::TakeFree(const Request& request) {
  if (collects_garbage()) ++pools_[request.pool].searches;
  const BlockId block = FindFree(request);
  if (block != kNone) Erase(block);
  return block;
}

// The first block that is large enough, if the limits on oversize blocks let it be.
BlockId CachingAllocator::FindFree(const Request& request) const {
  const FreeBlocks& free = pools_[request.pool].free;
  const FreeBlocks::List& list = free.Of(request.stream);
  std::size_t at = free.Find(request.stream, {.size = request.size});
  if (at == list.size()) return kNone;
  if (!request.expandable) {
    while (at < list.size() && blocks_[list[at].block].expandable != kNone) ++at;
    if (at == list.size()) return kNone;
  }
  // A block that can grow counts as large as it can become.
  while (blocks_[list[at].block].expandable != kNone && at + 1 < list.size() &&
         SizeWithRoom(blocks_[list[at + 1].block]) < SizeWithRoom(blocks_[list[at].block])) {
    ++at;
  }
  const std::int64_t size = blocks_[list[at].block].size;
  const bool oversize = request.size >= settings_.max_split_size;
  if (!oversize && size >= settings_.max_split_size) return kNone;
  if (oversize && size - request.size >= settings_.max_non_split_rounding) return kNone;
  return list[at].block;
}

BlockId CachingAllocator::TakeNew(const Request& request) {
  const std::int64_t wanted = reserved_ + request.segment;
  if (allowed_ && wanted > *allowed_) return kNone;
  refused_ = settings_.refuse_early && wanted > device_.total();
  if (refused_) return kNone;
  const bool is_small = pools_[request.pool].is_small;
  if (request.expandable) return TakeExpandable(request);
  const std::optional<std::int64_t> address = device_.Allocate(request.segment);
  if (!address) return kNone;
  reserved_ += request.segment;
  ++segments_made_;
  statistics_.segment.Change(is_small, 1);
  statistics_.reserved_bytes.Change(is_small, request.segment);
  if (request.segment >= settings_.max_split_size) statistics_.oversize_segments.Rise(1);
  ++statistics_.num_device_alloc;
  return MakeBlock({.age = segments_made_, .stream = request.stream, .pool = request.pool},
                   *address, request.segment);
}

// More and more is tried: new memory, other pools, new memory after giving back some, or all.
BlockId CachingAllocator::TakeNewOrRelease(const Request& request) {
  if (const BlockId block = TakeNew(request); block != kNone || refused_) return block;
  if (const BlockId block = TakeFromSparePools(request); block != kNone) return block;
  if (ReleaseOversize(request)) {
    if (const BlockId block = TakeNew(request); block != kNone || refused_) return block;
  }
  if (IsCaptured(request.stream)) return kNone;
  EmptyCache();
  ++statistics_.num_alloc_retries;
  return TakeNew(request);
}

BlockId CachingAllocator::TakeFromSparePools(const Request& request) {
  if (pools_[request.pool].owner != kDefaultPool) return kNone;
  for (const PoolId id : spare_pools_) {
    Request spare = request;
    spare.pool = 2 * id + request.pool % 2;
    spare.expandable = false;
    if (const BlockId block = TakeFree(spare); block != kNone) return block;
  }
  return kNone;
}

bool CachingAllocator::ShouldSplit(const Block& block, std::int64_t size) const {
  const Pool& pool = pools_[block.pool];
  if (private_pools_[pool.owner].options.no_split) return false;
  const std::int64_t rest = block.size - size;
  if (pool.is_small || settings_.expandable_segments) return rest >= kBlockQuantum;
  return size < settings_.max_split_size && rest > kSmallLimit;
}

// Returns a new block that is the first `size` bytes of `id`, which is free and in no list; what is
// left of it goes into the list.
BlockId CachingAllocator::Split(BlockId id, std::int64_t size) {
  const BlockId first = MakeBlock(blocks_[id], blocks_[id].address, size);
  Block& rest = blocks_[id];
  Link(rest.prev, first);
  rest.address += size;
  rest.size -= size;
  Link(first, id);
  Insert(id);
  return first;
}

void CachingAllocator::Fail(const Request& request) {
  ++(refused_ ? statistics_.num_oom_rejections : statistics_.num_ooms);
  std::int64_t in_private_pools = 0;
  for (const Pool& pool : pools_) {
    if (pool.owner == kDefaultPool) continue;
    for (StreamId stream = 0; stream < pool.free.streams(); ++stream) {
      for (const auto& entry : pool.free.Of(stream)) in_private_pools += entry.key.size;
    }
  }
  const std::int64_t allocated = statistics_.allocated_bytes.all.current;
  out_of_memory_ = {.tried = request.segment,
                    .total = device_.total(),
                    .free = device_.free(),
                    .allowed = allowed_,
                    .allocated = allocated,
                    .in_private_pools = in_private_pools,
                    .unallocated = reserved_ - allocated - in_private_pools,
                    .refused = refused_};
}

BlockKey CachingAllocator::KeyOf(const Block& block) const {
  if (!block.mapped) return {.address = block.address};
  const bool by_age = settings_.tie_break == TieBreak::kSegmentAge;
  return {.size = block.size, .age = by_age ? block.age : 0, .address = block.address};
}

// A new block of the segment of `like`, beside nothing and in no list.
BlockId CachingAllocator::MakeBlock(const Block& like, std::int64_t address, std::int64_t size) {
  const Block block{.address = address,
                    .size = size,
                    .age = like.age,
                    .stream = like.stream,
                    .pool = like.pool,
                    .expandable = like.expandable,
                    .exists = true};
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  blocks_[id] = block;
  return id;
}

void CachingAllocator::Remove(BlockId id) {
  blocks_[id].exists = false;
  unused_.push_back(id);
}

void CachingAllocator::Insert(BlockId id) {
  Block& block = blocks_[id];
  Pool& pool = pools_[block.pool];
  block.born = pool.searches;
  (block.mapped ? pool.free : pool.unmapped).Insert(block.stream, KeyOf(block), id);
}

void CachingAllocator::Erase(BlockId id) {
  const Block& block = blocks_[id];
  Pool& pool = pools_[block.pool];
  (block.mapped ? pool.free : pool.unmapped).Erase(block.stream, KeyOf(block));
}

// Makes `second` follow `first`; one of them may be nothing.
void CachingAllocator::Link(BlockId first, BlockId second) {
  if (first != kNone) blocks_[first].next = second;
  if (second != kNone) blocks_[second].prev = first;
}

// Makes a neighbour in a list a part of `id`, which is in none, if both are free and have memory,
// or have none. Returns the bytes that came.
std::int64_t CachingAllocator::Merge(BlockId id, BlockId neighbour) {
  if (neighbour == kNone) return 0;
  Block& block = blocks_[id];
  const Block& other = blocks_[neighbour];
  if (!IsIdle(other) || other.mapped != block.mapped) return 0;
  Erase(neighbour);
  if (block.prev == neighbour) {
    block.address = other.address;
    Link(other.prev, id);
    if (other.prev == kNone) block.prev = kNone;
  } else {
    Link(id, other.next);
    if (other.next == kNone) block.next = kNone;
  }
  block.size += other.size;
  const std::int64_t bytes = other.size;
  Remove(neighbour);
  return bytes;
}

PoolId CachingAllocator::CreatePool(const PoolOptions& options) {
  // PyTorch keeps these ids in a hash table, and goes through them in its order.
  constexpr auto kPlace = [](PoolId pool) { return pool * 0x9E37'79B9'7F4A'7C15u; };
  const auto id = static_cast<PoolId>(private_pools_.size());
  private_pools_.push_back({.options = options});
  if (options.use_on_oom) {
    spare_pools_.insert(std::ranges::lower_bound(spare_pools_, kPlace(id), {}, kPlace), id);
  }
  pools_.push_back({.is_small = true, .owner = id, .free = {}, .unmapped = {}});
  pools_.push_back({.is_small = false, .owner = id, .free = {}, .unmapped = {}});
  return id;
}

void CachingAllocator::BeginPool(PoolId pool, PoolUse use, std::optional<StreamId> stream) {
  SY_ASSERT(pool != kDefaultPool && pool < private_pools_.size(), "the pool was created");
  SY_ASSERT(!private_pools_[pool].gone, "the pool is not released");
  in_use_.push_back({.pool = pool, .use = use, .stream = stream});
}

void CachingAllocator::EndPool(PoolId pool) {
  const auto used = std::ranges::find(in_use_, pool, &PoolInUse::pool);
  SY_ASSERT(used != in_use_.end(), "the pool is in use");
  in_use_.erase(used);
}

void CachingAllocator::ReleasePool(PoolId pool) {
  SY_ASSERT(pool != kDefaultPool && pool < private_pools_.size(), "the pool was created");
  private_pools_[pool].gone = true;
  std::erase(spare_pools_, pool);
}

}  // namespace steelyard
