// SPDX-License-Identifier: Apache-2.0
#include "support/interner.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/assert.h"
#include "support/hash.h"

namespace steelyard {
namespace {

// Small pools (a report) should stay within a page; large ones allocate rarely, as chunks double.
constexpr std::size_t kFirstChunk = 4096;
constexpr std::size_t kLargestChunk = std::size_t{1} << 20U;
constexpr std::size_t kFirstSlots = 64;

std::uint32_t ShortHash(std::string_view text) {
  return static_cast<std::uint32_t>(HashText(text) >> 32U);
}

}  // namespace

StringInterner::StringInterner(const StringInterner& other) : slots_(other.slots_) {
  std::size_t bytes = 0;
  for (const std::string_view text : other.texts_) bytes += text.size();
  chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  free_ = chunks_.back().get();
  free_size_ = bytes;
  texts_.reserve(other.texts_.size());
  for (const std::string_view text : other.texts_) texts_.push_back(Store(text));
}

StringInterner& StringInterner::operator=(const StringInterner& other) {
  if (this != &other) *this = StringInterner(other);
  return *this;
}

std::uint32_t StringInterner::Intern(std::string_view text) {
  if ((texts_.size() + 1) * 4 > slots_.size() * 3) {
    Rehash(std::max(kFirstSlots, slots_.size() * 2));
  }
  const std::uint32_t hash = ShortHash(text);
  Slot& slot = slots_[Probe(text, hash)];
  if (slot.id == kFree) {
    SY_ASSERT(texts_.size() < kFree, "a pool of strings holds fewer than 2^32 - 1 texts");
    slot = {hash, size()};
    texts_.push_back(Store(text));
  }
  return slot.id;
}

std::optional<std::uint32_t> StringInterner::Find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[Probe(text, ShortHash(text))];
  if (slot.id == kFree) return std::nullopt;
  return slot.id;
}

void StringInterner::Reserve(std::size_t count) {
  texts_.reserve(count);
  const std::size_t wanted = std::bit_ceil(std::max(kFirstSlots, count + count / 3 + 1));
  if (wanted > slots_.size()) Rehash(wanted);
}

// Returns the slot of `text`, or the free one where it belongs. Ends because a slot is always free.
std::size_t StringInterner::Probe(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kFree && (slots_[at].hash != hash || texts_[slots_[at].id] != text)) {
    at = (at + 1) & mask;
  }
  return at;
}

void StringInterner::Rehash(std::size_t slot_count) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slot_count));
  const std::size_t mask = slot_count - 1;
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != kFree) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::string_view StringInterner::Store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > free_size_) {
    const std::size_t grown = std::min(kLargestChunk, kFirstChunk << std::min(chunks_.size(), 8UL));
    const std::size_t bytes = std::max(grown, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    free_ = chunks_.back().get();
    free_size_ = bytes;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view stored(free_, text.size());
  free_ += text.size();
  free_size_ -= text.size();
  return stored;
}

}  // namespace steelyard
