// SPDX-License-Identifier: Apache-2.0
//
// Expandable segments: one stretch of addresses for each stream and pool, and pages of memory
// mapped into it where they are needed.

#include <algorithm>

#include "memory/caching/caching_allocator.h"
#include "support/rounding.h"

namespace steelyard {

// What the block would be if all that follows it without memory had some.
std::int64_t CachingAllocator::SizeWithRoom(const Block& block) const {
  const bool grows = block.next != kNone && !blocks_[block.next].mapped;
  return block.size + (grows ? blocks_[block.next].size : 0);
}

BlockId CachingAllocator::TakeExpandable(const Request& request) {
  BlockId id = FindRoom(request);
  if (id == kNone) return kNone;
  if (!blocks_[id].mapped && !MapPages(id, std::min(blocks_[id].size, request.size))) return kNone;
  while (blocks_[id].size < request.size) {
    const BlockId hole = blocks_[id].next;
    const std::int64_t missing = request.size - blocks_[id].size;
    if (!MapPages(hole, std::min(missing, blocks_[hole].size))) return kNone;
    id = hole;  // which `id` is a part of now
  }
  Erase(id);
  return id;
}

// The first hole, in the order of addresses, from which on, or from the free block before it on,
// there is room enough: holes and free blocks.
BlockId CachingAllocator::FindRoom(const Request& request) {
  for (const auto& entry : pools_[request.pool].unmapped.Of(request.stream)) {
    BlockId first = entry.block;
    const BlockId before = blocks_[first].prev;
    if (before != kNone && IsIdle(blocks_[before])) first = before;
    std::int64_t room = 0;
    for (BlockId id = first; id != kNone && room < request.size; id = blocks_[id].next) {
      if (!IsIdle(blocks_[id])) break;
      room += blocks_[id].size;
    }
    if (room >= request.size) return first;
  }
  return MakeExpandable(request);
}

BlockId CachingAllocator::MakeExpandable(const Request& request) {
  const std::int64_t page =
      pools_[request.pool].is_small ? kSmallSegment : settings_.large_segment_size;
  const AddressReserve& reserve = settings_.expandable_reserve;
  const std::int64_t most = device_.total() + device_.total() / 8;
  const double share = reserve.share * static_cast<double>(device_.total());
  const std::int64_t chosen =
      reserve.is_share
          ? (share >= static_cast<double>(most) ? most : static_cast<std::int64_t>(share))
          : reserve.bytes;
  const std::int64_t size = RoundUp(std::min(chosen, most), page);
  if (size < request.size) return kNone;
  const ExpandableSegment segment{
      .address = device_.Reserve(size), .size = size, .page = page, .age = ++segments_made_};
  expandable_.push_back(segment);
  const BlockId id = MakeBlock({.age = segment.age,
                                .stream = request.stream,
                                .pool = request.pool,
                                .expandable = static_cast<std::uint32_t>(expandable_.size() - 1)},
                               segment.address, size);
  blocks_[id].mapped = false;
  Insert(id);
  return id;
}

// Gives memory to the first `size` bytes of a hole, in whole pages, and joins it to what is free
// beside it. False if the device has not that much.
bool CachingAllocator::MapPages(BlockId id, std::int64_t size) {
  const std::int64_t page = expandable_[blocks_[id].expandable].page;
  const std::int64_t bytes = RoundUp(size, page);
  if (!device_.Commit(bytes)) return false;
  Erase(id);
  blocks_[id].mapped = true;
  if (bytes < blocks_[id].size) {
    const BlockId rest =
        MakeBlock(blocks_[id], blocks_[id].address + bytes, blocks_[id].size - bytes);
    blocks_[rest].mapped = false;
    Link(rest, blocks_[id].next);
    Link(id, rest);
    blocks_[id].size = bytes;
    Insert(rest);
  }
  Merge(id, blocks_[id].prev);
  Merge(id, blocks_[id].next);
  Insert(id);
  reserved_ += bytes;
  statistics_.reserved_bytes.Change(pools_[blocks_[id].pool].is_small, bytes);
  ++statistics_.num_device_alloc;
  return true;
}

// Takes the memory from the whole pages of a free block; what remains at its ends stays free. A
// segment without memory is gone.
void CachingAllocator::UnmapPages(BlockId id) {
  const ExpandableSegment segment = expandable_[blocks_[id].expandable];
  const std::int64_t offset = blocks_[id].address - segment.address;
  const std::int64_t end = offset + blocks_[id].size;
  const std::int64_t first = (offset + segment.page - 1) / segment.page * segment.page;
  const std::int64_t last = end / segment.page * segment.page;
  if (first >= last) return;
  Erase(id);
  if (first > offset) {
    const BlockId before = MakeBlock(blocks_[id], blocks_[id].address, first - offset);
    Link(blocks_[id].prev, before);
    Link(before, id);
    Insert(before);
  }
  if (last < end) {
    const BlockId after = MakeBlock(blocks_[id], segment.address + last, end - last);
    Link(after, blocks_[id].next);
    Link(id, after);
    Insert(after);
  }
  Block& block = blocks_[id];
  const Pool& pool = pools_[block.pool];
  block.address = segment.address + first;
  block.size = last - first;
  block.mapped = false;
  device_.Uncommit(block.size);
  reserved_ -= block.size;
  statistics_.reserved_bytes.Change(pool.is_small, -block.size);
  ++statistics_.num_device_free;
  Merge(id, block.prev);
  Merge(id, block.next);
  if (block.prev == kNone && block.next == kNone) {
    device_.Unreserve(segment.address);
    Remove(id);
  } else {
    Insert(id);
  }
}

}  // namespace steelyard
