// SPDX-License-Identifier: Apache-2.0
//
// What a caching allocator counts, under the names of torch.cuda.memory_stats.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace steelyard {

// A number that rises and falls. `peak` is the highest since the last reset.
struct Statistic {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  // sum of all rises
  std::int64_t freed = 0;      // sum of all falls, > 0

  void Rise(std::int64_t by) {
    current += by;
    allocated += by;
    peak = std::max(peak, current);
  }
  void Fall(std::int64_t by) {
    current -= by;
    freed += by;
  }
  void Change(std::int64_t by) { by >= 0 ? Rise(by) : Fall(-by); }
  void ResetPeak() { peak = current; }

  friend bool operator==(const Statistic&, const Statistic&) = default;
};

// The same of all blocks, and of those of the small and of the large pools.
struct PoolStatistic {
  Statistic all;
  Statistic small_pool;
  Statistic large_pool;

  void Change(bool is_small, std::int64_t by) {
    all.Change(by);
    (is_small ? small_pool : large_pool).Change(by);
  }
  void ResetPeak() {
    for (Statistic* s : {&all, &small_pool, &large_pool}) s->ResetPeak();
  }

  friend bool operator==(const PoolStatistic&, const PoolStatistic&) = default;
};

struct AllocatorStatistics {
  // How many.
  PoolStatistic allocation;      // blocks that the program has
  PoolStatistic segment;         // what was taken from the device at once; no expandable ones
  PoolStatistic active;          // blocks that the program has or another stream still uses
  PoolStatistic inactive_split;  // free blocks beside others in their segments

  // Bytes.
  PoolStatistic allocated_bytes;  // of the blocks that the program has
  PoolStatistic reserved_bytes;   // of the segments
  PoolStatistic active_bytes;     // as the counts of these names
  PoolStatistic inactive_split_bytes;
  PoolStatistic requested_bytes;  // what was asked for, of the active blocks

  Statistic oversize_allocations;  // blocks and segments of at least `max_split_size`
  Statistic oversize_segments;

  std::int64_t num_alloc_retries = 0;     // after everything free was given back
  std::int64_t num_ooms = 0;              // requests that were refused
  std::int64_t num_sync_all_streams = 0;  // waits for every stream
  std::int64_t num_device_alloc = 0;      // calls of the driver: segments, pages mapped
  std::int64_t num_device_free = 0;
  std::int64_t num_oom_rejections = 0;  // of `num_ooms`, without asking the driver

  void ResetPeaks() {
    for (PoolStatistic* s :
         {&allocation, &segment, &active, &inactive_split, &allocated_bytes, &reserved_bytes,
          &active_bytes, &inactive_split_bytes, &requested_bytes}) {
      s->ResetPeak();
    }
    oversize_allocations.ResetPeak();
    oversize_segments.ResetPeak();
  }

  friend bool operator==(const AllocatorStatistics&, const AllocatorStatistics&) = default;
};

}  // namespace steelyard
