// SPDX-License-Identifier: Apache-2.0
//
// A caching allocator as a timeline is replayed through it (memory/allocator.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/allocator.h"
#include "memory/caching/caching_allocator.h"

namespace steelyard {

// One for each timeline; the device outlives them, and what one leaves there the next one finds.
// What is resident is on the device before: whoever made it knows in which order. Of that, a
// timeline frees only what was adopted.
//
//   CachingAllocator device(settings, DeviceMemory(80 * kGiB));
//   for (std::int64_t bytes : parameters) device.Allocate(bytes);
//   TimelineAllocator allocator(&device);
//   MemoryUse first = Replay(first_step, allocator);
class TimelineAllocator final : public Allocator {
 public:
  explicit TimelineAllocator(CachingAllocator* device) : device_(*device) {}

  // Says that `id` is on the device already as this block of the timeline.
  void Adopt(std::uint32_t block, BlockId id);
  // Which one a block of the timeline is, unless that has freed it.
  std::optional<BlockId> Left(std::uint32_t block) const;

  // The blocks of the timeline that are on the device.
  const std::vector<BlockId>& ids() const { return ids_; }
  static constexpr BlockId kAbsent = 0xffffffffu;

  void Begin(std::int64_t resident) override;
  void Keep(std::uint32_t, std::int64_t) override {}  // it is there
  [[nodiscard]] bool Allocate(std::uint32_t block, std::int64_t bytes,
                              std::uint32_t stream) override;
  void Free(std::uint32_t block) override;
  void EmptyCache() override { device_.EmptyCache(); }
  [[nodiscard]] MemoryLevels now() const override;
  [[nodiscard]] bool Settled() override;
  MemoryLevels Finish() override;

 private:
  BlockId& At(std::uint32_t block);

  CachingAllocator& device_;
  std::vector<BlockId> ids_;  // by block of the timeline
  SegmentMap last_map_;       // of the last call of `Settled`, and what was given back until then
  std::int64_t last_freed_ = -1;
};

}  // namespace steelyard
