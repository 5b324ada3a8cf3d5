// SPDX-License-Identifier: Apache-2.0
//
// Blocks that other streams use: they come back when the host has seen every such stream pass.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "memory/caching/caching_allocator.h"

namespace steelyard {

void CachingAllocator::RecordStream(BlockId id, StreamId stream) {
  Block& block = blocks_[id];
  if (block.stream == stream) return;  // in order there anyway
  block.has_uses = true;
  std::vector<StreamId>& streams = uses_[id];
  if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
}

bool CachingAllocator::IsCaptured(StreamId stream) const {
  return std::ranges::any_of(in_use_, [&](const PoolInUse& used) {
    return used.use == PoolUse::kCapture && used.stream.value_or(stream) == stream;
  });
}

// An event on every stream that uses the block.
void CachingAllocator::AwaitStreams(BlockId id) {
  Block& block = blocks_[id];
  block.has_uses = false;
  for (const StreamId stream : uses_[id]) {
    if (events_.size() <= stream) events_.resize(std::size_t{stream} + 1);
    events_[stream].push_back({.block = id, .happened = progress_ == StreamProgress::kAtOnce});
    ++block.events;
  }
  uses_.erase(id);
}

void CachingAllocator::Complete(StreamId stream) {
  if (stream >= events_.size()) return;
  for (PendingFree& event : events_[stream]) event.happened = true;
}

void CachingAllocator::ProcessEvents() {
  for (const BlockId id : std::exchange(deferred_, {})) AwaitStreams(id);
  for (std::deque<PendingFree>& events : events_) {
    while (!events.empty() && events.front().happened) {
      const BlockId id = events.front().block;
      events.pop_front();
      FreeIfIdle(id);
    }
  }
}

// Waits for all events, or for those of the blocks of a private pool.
void CachingAllocator::Synchronize(PoolId pool) {
  ++statistics_.num_sync_all_streams;
  for (const BlockId id : std::exchange(deferred_, {})) AwaitStreams(id);
  for (std::deque<PendingFree>& events : events_) {
    for (const PendingFree& event : std::exchange(events, {})) {
      if (pool != kDefaultPool && pools_[blocks_[event.block].pool].owner != pool) {
        events.push_back(event);
      } else {
        FreeIfIdle(event.block);
      }
    }
  }
}

void CachingAllocator::FreeIfIdle(BlockId id) {
  if (--blocks_[id].events == 0) MakeFree(id);
}

}  // namespace steelyard
