// SPDX-License-Identifier: Apache-2.0
//
// Whose a block is, is said after it was allocated: a gradient is known as such once it has been
// accumulated, what is saved for the backward pass when that begins. So events are kept, and told
// when all is known.
#include "record/memory_log.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace steelyard {
namespace {

// The smaller, the surer it is.
int Rank(Category category) {
  constexpr std::array kOrder{Category::kParameters,     Category::kBuffers,
                              Category::kOptimizerState, Category::kGradients,
                              Category::kInputs,         Category::kOutputs,
                              Category::kCache,          Category::kActivations,
                              Category::kLibraries,      Category::kTemporaries};
  return static_cast<int>(std::ranges::find(kOrder, category) - kOrder.begin());
}

}  // namespace

bool MemoryLog::IsBelievable(std::int64_t bytes) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  return bytes >= 0 && bytes <= kMost - allocated_ - from_before_ - reserved_;
}

void MemoryLog::Allocate(std::uint64_t address, std::int64_t bytes, std::uint32_t place,
                         Phase phase) {
  Free(address, place);  // of which nobody has told
  if (!IsBelievable(bytes)) return;
  allocated_ += bytes;
  const auto block = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({.bytes = bytes, .place = place, .phase = phase});
  changes_.push_back({.bytes = bytes, .tick = now_, .block = block, .place = place});
  live_.insert_or_assign(address, block);
}

void MemoryLog::Free(std::uint64_t address, std::uint32_t place) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  const Held& held = blocks_[found->second];
  if (!held.from_before) allocated_ -= held.bytes;
  changes_.push_back({.bytes = -blocks_[found->second].bytes,
                      .tick = now_,
                      .block = found->second,
                      .place = place});
  live_.erase(found);
}

void MemoryLog::Mark(std::uint64_t address, const Marked& marked) {
  if (marked.bytes == 0) return;
  const bool lasts =
      marked.category == Category::kParameters || marked.category == Category::kBuffers;
  const auto before = lasts ? outside_.find(marked.tensor) : outside_.end();
  auto found = live_.find(address);
  if (found == live_.end()) {
    if (before != outside_.end()) return;  // memory of the same kind stands for it
    if (!IsBelievable(marked.bytes)) return;
    if (marked.category == Category::kInputs) {
      Allocate(address, marked.bytes, marked.place, Phase::kForward);
      lent_.push_back(address);
    } else {
      from_before_ += marked.bytes;
      if (lasts && marked.tensor != SY_NO_ID) outside_.emplace(marked.tensor, blocks_.size());
      live_.emplace(address, static_cast<std::uint32_t>(blocks_.size()));
      blocks_.push_back({.bytes = marked.bytes, .from_before = true});
    }
    found = live_.find(address);
  } else if (before != outside_.end() && before->second != found->second) {
    EndReplaced(before->second, found->second);
    outside_.erase(before);
  }
  Held& held = blocks_[found->second];
  if (Rank(marked.category) > Rank(held.category)) return;
  held.category = marked.category;
  if (marked.tensor != SY_NO_ID) held.tensor = marked.tensor;
}

void MemoryLog::EndReplaced(std::uint32_t block, std::uint32_t by) {
  const auto is_live = [&](const auto& entry) { return entry.second == block; };
  const auto live = std::ranges::find_if(live_, is_live);
  // It came not long ago, and has not gone.
  const auto recent = std::ranges::find(changes_.rbegin(), changes_.rend(), by, &Change::block);
  if (live == live_.end() || recent == changes_.rend()) return;
  live_.erase(live);
  const auto came = recent.base() - 1;
  const auto at = static_cast<std::size_t>(came - changes_.begin());
  Change gone = *came;
  gone.block = block;
  gone.bytes = -blocks_[block].bytes;
  changes_.insert(came + 1, gone);
  for (std::size_t& end : ends_) end += end > at ? 1 : 0;
}

// What has turned out to be more than an input stays.
void MemoryLog::ReturnInputs() {
  for (const std::uint64_t address : lent_) {
    const auto found = live_.find(address);
    if (found == live_.end()) continue;
    const Held& held = blocks_[found->second];
    if (held.category == Category::kInputs) Free(address, held.place);
  }
  lent_.clear();
}

void MemoryLog::TakeForInputs() {
  for (const auto& [address, block] : live_) {
    Held& held = blocks_[block];
    if (held.category == Category::kTemporaries) held.category = Category::kInputs;
  }
}

void MemoryLog::KeepAllOf(Phase phase) {
  for (const auto& [address, block] : live_) {
    Held& held = blocks_[block];
    if (held.from_before || held.phase != phase) continue;
    if (held.category == Category::kTemporaries) held.category = Category::kActivations;
  }
}

void MemoryLog::Reserve(std::int64_t bytes) {
  if (bytes > 0 && !IsBelievable(bytes)) return;
  reserved_ = std::max<std::int64_t>(reserved_ + bytes, 0);
  reserved_peak_ = std::max(reserved_peak_, reserved_);
}

void MemoryLog::EndStep() {
  ReturnInputs();
  ends_.push_back(changes_.size());
  reserved_peaks_.push_back(reserved_peak_);
  reserved_peak_ = reserved_;
}

std::vector<std::int64_t> MemoryLog::Peaks() const {
  std::int64_t now = 0;
  for (const Held& held : blocks_) now += held.from_before ? held.bytes : 0;
  std::vector<std::int64_t> peaks;
  std::size_t at = 0;
  for (const std::size_t end : ends_) {
    std::int64_t peak = now;
    for (; at < end; ++at) {
      now += changes_[at].bytes;
      peak = std::max(peak, now);
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<MemoryMoment> MemoryLog::History() const {
  std::vector<MemoryMoment> history;
  for (const Held& held : blocks_) {
    if (held.from_before) history.push_back({.bytes = held.bytes, .category = held.category});
  }
  for (const Change& change : changes_) {
    history.push_back({change.tick, change.bytes, blocks_[change.block].category});
  }
  return history;
}

void MemoryLog::Tell(std::size_t step, Watched& result) const {
  const std::size_t begin = step == 0 ? 0 : ends_[step - 1];
  std::vector<bool> alive(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) alive[b] = blocks_[b].from_before;
  for (std::size_t i = 0; i < begin; ++i) alive[changes_[i].block] = changes_[i].bytes > 0;
  constexpr std::uint32_t kUnseen = 0xffffffffu;
  std::vector<std::uint32_t> places(blocks_.size(), kUnseen);  // among the blocks of the timeline
  Timeline& timeline = result.timeline;
  const auto add = [&](std::uint32_t block, bool resident) {
    const Held& held = blocks_[block];
    places[block] = static_cast<std::uint32_t>(timeline.blocks.size());
    timeline.blocks.push_back({.bytes = held.bytes,
                               .allocated = static_cast<std::uint32_t>(timeline.events.size()),
                               .category = held.category,
                               .resident = resident});
    result.tensors.push_back(held.tensor);
    result.block_places.push_back(held.place);
  };
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    if (!alive[b]) continue;
    add(b, true);
    Of(timeline.resident, blocks_[b].category) += blocks_[b].bytes;
  }
  for (std::size_t i = begin; i < ends_[step]; ++i) {
    const Change& change = changes_[i];
    if (places[change.block] == kUnseen) add(change.block, false);
    Block& block = timeline.blocks[places[change.block]];
    if (change.bytes < 0) block.freed = static_cast<std::uint32_t>(timeline.events.size());
    timeline.events.push_back({.bytes = change.bytes,
                               .block = places[change.block],
                               .label = timeline.labels.Intern(result.places[change.place].what),
                               .node = change.place});
  }
}

}  // namespace steelyard
