// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's caching allocator for CUDA, without CUDA: it takes segments from a device's memory,
// cuts them into blocks, and keeps what is freed for the next request. Which block a request gets,
// what is reserved then and when it fails is what PyTorch's own allocator does, to the byte and the
// address (tests/oracle/test_caching.py).
//
//   CachingAllocator allocator(AllocatorSettings{}, DeviceMemory(80 * kGiB));
//   std::optional<BlockId> block = allocator.Allocate(3 * kMiB);
//   if (!block) return allocator.out_of_memory();
//   allocator.Free(*block);
//   allocator.statistics().reserved_bytes.all.current;  // 20 MiB
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "memory/caching/device_memory.h"
#include "memory/caching/free_blocks.h"
#include "memory/caching/segment_map.h"
#include "memory/caching/settings.h"
#include "memory/caching/statistics.h"

namespace steelyard {

inline constexpr StreamId kDefaultStream = 0;

// When the host sees that a stream has come past the point where a block was freed.
enum class StreamProgress : std::uint8_t {
  kAtOnce,            // at the next request: a device that is never behind
  kWhenSynchronized,  // when it waits, or `Complete` says so
};

// What the message of torch.OutOfMemoryError tells, in bytes.
struct OutOfMemory {
  std::int64_t tried = 0;               // the segment that was wanted, not the tensor
  std::int64_t total = 0;               // of the device
  std::int64_t free = 0;                // on the device
  std::optional<std::int64_t> allowed;  // by the process' share
  std::int64_t allocated = 0;
  std::int64_t in_private_pools = 0;  // free blocks there, which that message counts as allocated
  std::int64_t unallocated = 0;       // reserved beside those two
  bool refused = false;               // without asking the driver: `refuse_early`
};

// A pool of its own segments, as a CUDA graph has one or torch.cuda.MemPool makes one.
using PoolId = std::uint32_t;
inline constexpr PoolId kDefaultPool = 0;
struct PoolOptions {
  bool use_on_oom = false;  // others may take blocks of it before they fail
  bool no_split = false;    // its blocks stay whole
};
enum class PoolUse : std::uint8_t {
  kScope,    // torch.cuda.use_mem_pool
  kCapture,  // torch.cuda.graph: requests of it look at no event, and give nothing back
};

class CachingAllocator {
 public:
  CachingAllocator(const AllocatorSettings& settings, DeviceMemory device,
                   StreamProgress progress = StreamProgress::kAtOnce);

  // Returns a block of at least `bytes`, none if there is no room: then `out_of_memory` says why.
  // Requires: bytes > 0. (PyTorch does not ask for less either.)
  [[nodiscard]] std::optional<BlockId> Allocate(std::int64_t bytes,
                                                StreamId stream = kDefaultStream);
  // Requires: `block` came from `Allocate` and is not freed.
  void Free(BlockId block);
  // Says that `stream` uses `block` too, which is not reused before it is past that.
  void RecordStream(BlockId block, StreamId stream);
  // All that was freed before now is past on `stream`.
  void Complete(StreamId stream);
  // Gives what is free in whole segments back to the device: of the default pool and of released
  // ones, or of one released pool.
  void EmptyCache(PoolId pool = kDefaultPool);

  PoolId CreatePool(const PoolOptions& options = {});
  // Until `EndPool`, requests of `stream` (of every stream if none) are of that pool.
  void BeginPool(PoolId pool, PoolUse use, std::optional<StreamId> stream = std::nullopt);
  void EndPool(PoolId pool);
  // The graphs or the MemPool are gone: what is free there may go back to the device.
  void ReleasePool(PoolId pool);

  // A share of the device's memory: torch.cuda.set_per_process_memory_fraction.
  void SetMemoryFraction(double fraction);

  [[nodiscard]] const AllocatorStatistics& statistics() const { return statistics_; }
  void ResetPeaks() { statistics_.ResetPeaks(); }
  [[nodiscard]] const OutOfMemory& out_of_memory() const { return out_of_memory_; }
  [[nodiscard]] const DeviceMemory& device() const { return device_; }
  [[nodiscard]] bool collects_garbage() const {
    return settings_.garbage_collection_threshold > 0 && allowed_;
  }
  [[nodiscard]] std::int64_t AddressOf(BlockId block) const { return blocks_[block].address; }
  [[nodiscard]] std::int64_t SizeOf(BlockId block) const { return blocks_[block].size; }
  // Every segment with its blocks, by address.
  [[nodiscard]] SegmentMap Map() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // A stretch of a segment.
  struct Block {
    std::int64_t address = 0;
    std::int64_t size = 0;
    std::int64_t requested = 0;
    std::int64_t born = 0;  // the pool's searches when it became free
    std::int64_t age = 0;   // of its segment: how many were there before it
    BlockId prev = kNone;   // its neighbours
    BlockId next = kNone;
    StreamId stream = kDefaultStream;
    std::uint32_t pool = 0;            // index in `pools_`
    std::uint32_t expandable = kNone;  // index in `expandable_`, where it is of one
    std::uint32_t events = 0;          // that must happen before it is free
    bool exists = false;
    bool allocated = false;
    bool mapped = true;
    bool has_uses = false;  // other streams, in `uses_`
  };

  // The small or the large blocks of the default pool or a private one: 2 * id + (small ? 0 : 1).
  struct Pool {
    bool is_small = false;
    PoolId owner = kDefaultPool;
    FreeBlocks free;
    FreeBlocks unmapped;  // by address
    std::int64_t searches = 0;
  };
  struct PrivatePool {
    PoolOptions options;
    bool gone = false;
  };
  struct PoolInUse {
    PoolId pool = kDefaultPool;
    PoolUse use = PoolUse::kScope;
    std::optional<StreamId> stream;
  };

  // Address space of a stream and pool that memory is mapped into, page by page.
  struct ExpandableSegment {
    std::int64_t address = 0;
    std::int64_t size = 0;
    std::int64_t page = 0;
    std::int64_t age = 0;
  };

  struct PendingFree {
    BlockId block = kNone;
    bool happened = false;
  };

  struct Request {
    std::int64_t size = 0;     // rounded
    std::int64_t segment = 0;  // what is taken from the device for it
    StreamId stream = kDefaultStream;
    std::uint32_t pool = 0;
    bool expandable = false;  // may be of an expandable segment
  };

  // Requests.
  [[nodiscard]] std::uint32_t PoolOf(std::int64_t size, StreamId stream) const;
  [[nodiscard]] BlockId TakeFree(const Request& request);
  [[nodiscard]] BlockId FindFree(const Request& request) const;
  [[nodiscard]] BlockId TakeNew(const Request& request);
  [[nodiscard]] BlockId TakeNewOrRelease(const Request& request);
  [[nodiscard]] BlockId TakeFromSparePools(const Request& request);
  [[nodiscard]] bool ShouldSplit(const Block& block, std::int64_t size) const;
  BlockId Split(BlockId block, std::int64_t size);
  void Hand(BlockId block, std::int64_t requested);
  void Fail(const Request& request);

  // The lists.
  [[nodiscard]] BlockKey KeyOf(const Block& block) const;
  BlockId MakeBlock(const Block& like, std::int64_t address, std::int64_t size);
  void Insert(BlockId id);
  void Erase(BlockId id);
  void Link(BlockId first, BlockId second);
  std::int64_t Merge(BlockId id, BlockId neighbour);
  void Remove(BlockId id);
  void MakeFree(BlockId id);
  [[nodiscard]] bool IsSplit(const Block& block) const {
    return block.prev != kNone || block.next != kNone;
  }
  [[nodiscard]] bool IsIdle(const Block& block) const {
    return !block.allocated && block.events == 0 && !block.has_uses;
  }

  // Events.
  [[nodiscard]] bool IsCaptured(StreamId stream) const;
  void AwaitStreams(BlockId id);
  void ProcessEvents();
  void Synchronize(PoolId pool);
  void FreeIfIdle(BlockId id);

  // Giving back.
  void CollectGarbage();
  [[nodiscard]] bool ReleaseOversize(const Request& request);
  void ReleaseFree(std::uint32_t pool);
  void ReleaseSegment(BlockId id);

  // Expandable segments.
  [[nodiscard]] BlockId TakeExpandable(const Request& request);
  [[nodiscard]] BlockId FindRoom(const Request& request);
  [[nodiscard]] BlockId MakeExpandable(const Request& request);
  [[nodiscard]] bool MapPages(BlockId id, std::int64_t size);
  void UnmapPages(BlockId id);
  [[nodiscard]] std::int64_t SizeWithRoom(const Block& block) const;

  AllocatorSettings settings_;
  DeviceMemory device_;
  StreamProgress progress_;
  std::optional<std::int64_t> allowed_;  // bytes

  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;  // of `blocks_`
  std::vector<Pool> pools_;
  std::vector<PrivatePool> private_pools_;  // by id; the first stands for the default pool
  std::vector<PoolId> spare_pools_;         // those with `use_on_oom`
  std::vector<PoolInUse> in_use_;
  std::vector<ExpandableSegment> expandable_;
  std::unordered_map<BlockId, std::vector<StreamId>> uses_;
  std::vector<std::deque<PendingFree>> events_;  // by stream
  std::vector<BlockId> deferred_;                // freed during a capture
  bool refused_ = false;                         // the last request for new memory
  std::int64_t reserved_ = 0;
  std::int64_t segments_made_ = 0;
  AllocatorStatistics statistics_;
  OutOfMemory out_of_memory_;
};

}  // namespace steelyard
