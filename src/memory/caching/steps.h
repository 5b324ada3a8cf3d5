// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch's caching allocator makes of steps that a program runs one after the other: what it
// reserves depends on which blocks of earlier steps lie where.
//
//   const Timeline first = ..., steady = ...;  // of a training step
//   ReservedUse use = RunSteps({&first, &steady, &steady}, AllocatorSettings(), DeviceMemory(...));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "memory/allocator.h"
#include "memory/caching/caching_allocator.h"
#include "steelyard/timeline.h"

namespace steelyard {

// Peaks of the last step, in bytes. As torch.cuda names them.
struct ReservedUse {
  std::int64_t requested = 0;  // what the program asks for
  std::int64_t allocated = 0;  // the blocks that it gets: max_memory_allocated
  std::int64_t reserved = 0;   // the segments that they are cut from: max_memory_reserved
  std::int64_t segments = 0;   // how many
  // When the last step is over: free stretches of segments that are in use.
  std::int64_t inactive = 0;
  std::int64_t retries = 0;  // after what was free had been given back to the device
  // Why it does not fit, and at which event of the step that fails; then nothing above is told.
  std::optional<OutOfMemory> out_of_memory;
  std::size_t step = 0;
  std::size_t event = 0;
};

// What is there before the first step.
struct ResidentBlock {
  static constexpr std::uint32_t kKept = 0xffffffffu;
  std::int64_t bytes = 0;
  Category category = Category::kParameters;
  // Which block of the first step it is, where that step gives it up.
  std::uint32_t block = kKept;
};

// Runs them on a device that holds nothing but `residents`, one block each, in their order. What a
// step leaves allocated stays for those that follow. Each step's residents are those, and what the
// steps before it left.
[[nodiscard]] ReservedUse RunSteps(std::span<const ResidentBlock> residents,
                                   std::span<const Timeline* const> steps,
                                   const AllocatorSettings& settings, const DeviceMemory& device);

// What the allocator does while the last step runs, and how its segments look where they are
// fullest: the most is reserved and, as long as that is so, the most is allocated.
struct StepCourse {
  std::vector<MemoryLevels> levels;  // before the first event of the step, and after each
  std::size_t fullest = 0;           // in `levels`
  SegmentMap segments;               // then
  // Of all blocks of these, in order: whose they are.
  std::vector<Category> categories;
};

// The same, of steps for which the device has room; nothing of others.
[[nodiscard]] std::optional<StepCourse> FollowSteps(std::span<const ResidentBlock> residents,
                                                    std::span<const Timeline* const> steps,
                                                    const AllocatorSettings& settings,
                                                    const DeviceMemory& device);

}  // namespace steelyard
