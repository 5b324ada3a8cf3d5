// SPDX-License-Identifier: Apache-2.0
//
// Steps share a device. What one leaves, and the next gives up, is found by its size and category:
// timelines of different steps do not know each other's blocks.
#include "memory/caching/steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/allocator.h"
#include "memory/caching/timeline_allocator.h"

namespace steelyard {
namespace {

// Allocates them, and says to the first step which are its own.
bool Place(std::span<const ResidentBlock> residents, CachingAllocator* device,
           TimelineAllocator* first, std::vector<BlockId>* ids) {
  for (const ResidentBlock& resident : residents) {
    if (resident.bytes <= 0) continue;
    const std::optional<BlockId> id = device->Allocate(resident.bytes);
    if (!id) return false;
    ids->push_back(*id);
    if (resident.block != ResidentBlock::kKept) first->Adopt(resident.block, *id);
  }
  return true;
}

// What the module or a graph that it holds keeps, and not what is trained.
bool IsKeptByModule(const Block& block) {
  return block.category == Category::kCache || block.category == Category::kActivations;
}

// The last block of that size which a step has left, of the same category if there is one; none
// that is taken.
std::optional<std::size_t> LastLeft(const Timeline& before, const TimelineAllocator& left,
                                    const std::vector<bool>& taken, const Block& like) {
  std::optional<std::size_t> other;
  for (std::size_t i = before.blocks.size(); i-- > 0;) {
    if (taken[i] || before.blocks[i].bytes != like.bytes) continue;
    if (!left.Left(static_cast<std::uint32_t>(i))) continue;
    if (before.blocks[i].category == like.category) return i;
    if (!other) other = i;
  }
  return other;
}

// What a step gives up of what is there before it, the step before has left. What else the module
// has kept it lets go before the step's first call.
void AdoptLeft(const Timeline& before, TimelineAllocator& left, const Timeline& next,
               TimelineAllocator* blocks) {
  std::vector<bool> taken(before.blocks.size(), false);
  for (std::size_t i = next.blocks.size(); i-- > 0;) {
    if (!next.blocks[i].resident) continue;
    const std::optional<std::size_t> found = LastLeft(before, left, taken, next.blocks[i]);
    if (!found) continue;
    taken[*found] = true;
    blocks->Adopt(static_cast<std::uint32_t>(i), *left.Left(static_cast<std::uint32_t>(*found)));
  }
  for (std::size_t i = 0; i < before.blocks.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    if (!taken[i] && IsKeptByModule(before.blocks[i]) && left.Left(block)) left.Free(block);
  }
}

class Run {
 public:
  Run(const AllocatorSettings& settings, const DeviceMemory& device)
      : allocator_(settings, device) {}

  // Up to the first event that finds no room. `levels`: of the last step.
  bool All(std::span<const ResidentBlock> residents, std::span<const Timeline* const> steps,
           std::vector<MemoryLevels>* levels = nullptr) {
    blocks_.reserve(steps.size());
    for (step_ = 0; step_ < steps.size(); ++step_) {
      const Timeline& step = *steps[step_];
      TimelineAllocator& blocks = blocks_.emplace_back(&allocator_);
      if (step_ == 0 && !Place(residents, &allocator_, &blocks, &residents_)) return false;
      if (step_ > 0) AdoptLeft(*steps[step_ - 1], blocks_[step_ - 1], step, &blocks);
      event_ = Replay(step, blocks, step_ + 1 == steps.size() ? levels : nullptr).events;
      if (event_ < step.events.size()) return false;
    }
    return true;
  }

  const CachingAllocator& allocator() const { return allocator_; }
  const std::vector<BlockId>& residents() const { return residents_; }      // but for empty ones
  const std::vector<TimelineAllocator>& blocks() const { return blocks_; }  // by step
  std::size_t step() const { return step_; }
  std::size_t event() const { return event_; }

 private:
  CachingAllocator allocator_;
  std::vector<BlockId> residents_;
  std::vector<TimelineAllocator> blocks_;
  std::size_t step_ = 0, event_ = 0;  // at which it has ended
};

// Whose the blocks of a map are. Those of a later step may lie where earlier ones lay.
std::vector<Category> CategoriesOf(const SegmentMap& map, const Run& run,
                                   std::span<const ResidentBlock> residents,
                                   std::span<const Timeline* const> steps) {
  std::unordered_map<std::int64_t, Category> at;
  auto id = run.residents().begin();
  for (const ResidentBlock& block : residents) {
    if (block.bytes > 0) at[run.allocator().AddressOf(*id++)] = block.category;
  }
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::vector<BlockId>& ids = run.blocks()[step].ids();
    for (std::size_t block = 0; block < ids.size(); ++block) {
      if (ids[block] == TimelineAllocator::kAbsent) continue;
      at[run.allocator().AddressOf(ids[block])] = steps[step]->blocks[block].category;
    }
  }
  std::vector<Category> categories;
  for (const MappedSegment& segment : map) {
    for (const MappedBlock& block : segment.blocks) {
      const auto found = at.find(segment.address + block.offset);
      categories.push_back(found == at.end() ? Category::kTemporaries : found->second);
    }
  }
  return categories;
}

}  // namespace

ReservedUse RunSteps(std::span<const ResidentBlock> residents,
                     std::span<const Timeline* const> steps, const AllocatorSettings& settings,
                     const DeviceMemory& device) {
  ReservedUse use;
  Run run(settings, device);
  const bool fits = run.All(residents, steps);
  use.step = run.step();
  if (!fits) {
    use.event = run.event();
    use.out_of_memory = run.allocator().out_of_memory();
    return use;
  }
  const AllocatorStatistics& statistics = run.allocator().statistics();
  use.requested = statistics.requested_bytes.all.peak;
  use.allocated = statistics.allocated_bytes.all.peak;
  use.reserved = statistics.reserved_bytes.all.peak;
  use.segments = statistics.segment.all.peak;
  use.inactive = statistics.inactive_split_bytes.all.current;
  use.retries = statistics.num_alloc_retries;
  return use;
}

std::optional<StepCourse> FollowSteps(std::span<const ResidentBlock> residents,
                                      std::span<const Timeline* const> steps,
                                      const AllocatorSettings& settings,
                                      const DeviceMemory& device) {
  StepCourse course;
  if (steps.empty() || !Run(settings, device).All(residents, steps, &course.levels)) {
    return std::nullopt;
  }
  const auto fullest = std::ranges::max_element(course.levels, {}, [](const MemoryLevels& levels) {
    return std::pair(levels.reserved, levels.allocated);
  });
  course.fullest = static_cast<std::size_t>(fullest - course.levels.begin());
  // Once more, up to there: of events that repeat, in their first run.
  Timeline cut = *steps.back();
  cut.events.resize(course.fullest);
  if (course.fullest < std::size_t{cut.repeat.first} + cut.repeat.count) cut.repeat = {};
  std::vector<const Timeline*> until(steps.begin(), steps.end());
  until.back() = &cut;
  Run run(settings, device);
  if (!run.All(residents, until)) return std::nullopt;
  course.segments = run.allocator().Map();
  course.categories = CategoriesOf(course.segments, run, residents, until);
  return course;
}

}  // namespace steelyard
