// SPDX-License-Identifier: Apache-2.0
#include "steelyard/strings.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "support/hash.h"

namespace steelyard {
namespace {

// Slots for the names of a small model before the first growth.
constexpr std::size_t kFirstSlots = 1024;

std::uint32_t HashOf(std::string_view text) { return static_cast<std::uint32_t>(HashText(text)); }

}  // namespace

StringTable::StringTable() : slots_(kFirstSlots, kNoString) { spans_.push_back({0, 0, 0}); }

// The slot that holds `text`, or the free one where it belongs.
std::uint32_t StringTable::Slot(std::string_view text, std::uint32_t hash) const {
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (std::uint32_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const StringId id = slots_[slot];
    if (id == kNoString) return slot;
    const Span& span = spans_[id];
    if (span.hash == hash && span.size == text.size() &&
        std::memcmp(bytes_.data() + span.begin, text.data(), text.size()) == 0) {
      return slot;
    }
  }
}

void StringTable::Grow() {
  slots_.assign(slots_.size() * 2, kNoString);
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (StringId id = 1; id < spans_.size(); ++id) {
    std::uint32_t slot = spans_[id].hash & mask;
    while (slots_[slot] != kNoString) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

StringId StringTable::Intern(std::string_view text) {
  if (text.empty()) return kNoString;
  const std::uint32_t hash = HashOf(text);
  std::uint32_t slot = Slot(text, hash);
  if (slots_[slot] != kNoString) return slots_[slot];
  const std::size_t begin = bytes_.size();
  // Spans are 32 bits wide. No file within the importers' limits comes near.
  if (text.size() > UINT32_MAX - begin) return kNoString;
  if (spans_.size() * 2 >= slots_.size()) {
    Grow();
    slot = Slot(text, hash);
  }
  // `text` may be a part of a string that is here already, which growing moves.
  const char* base = bytes_.data();
  const bool inside =
      std::greater_equal<>{}(text.data(), base) && std::less<>{}(text.data(), base + begin);
  const std::size_t offset = inside ? static_cast<std::size_t>(text.data() - base) : 0;
  bytes_.resize(begin + text.size());
  std::memcpy(bytes_.data() + begin, inside ? bytes_.data() + offset : text.data(), text.size());
  const auto id = static_cast<StringId>(spans_.size());
  spans_.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = id;
  return id;
}

StringId StringTable::Find(std::string_view text) const {
  if (text.empty()) return kNoString;
  return slots_[Slot(text, HashOf(text))];
}

}  // namespace steelyard
