// SPDX-License-Identifier: Apache-2.0
//
// A table from pieces of the file's text to what they were read as. Names occur thousands of times
// in an export, and so do stack traces and module paths of hundreds of bytes each: they are
// understood once and found again by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/hash.h"

namespace steelyard::pt2 {

// Keys are not copied: they are pieces of a document that outlives the table.
template <class V>
class TokenMap {
 public:
  explicit TokenMap(V missing) : slots_(kFirstSlots), missing_(missing) {}

  // The index of the entry of `token`, added with the value `missing` if there was none. Indices
  // are dense and stay valid.
  std::size_t IndexOf(std::string_view token) {
    const std::uint64_t hash = HashText(token);
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].entry != kFree; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.tag == tag && entries_[slot.entry].token == token) return slot.entry;
    }
    if (entries_.size() * 2 >= slots_.size()) {
      Grow();
      at = FreeSlot(hash);
    }
    slots_[at] = {tag, static_cast<std::uint32_t>(entries_.size())};
    entries_.push_back({token, hash, missing_});
    return entries_.size() - 1;
  }
  V& at(std::size_t index) { return entries_[index].value; }
  // The value of `token`; valid until the next new token.
  V& operator[](std::string_view token) { return at(IndexOf(token)); }
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  static constexpr std::size_t kFirstSlots = 256;
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t entry = kFree;
  };
  struct Entry {
    std::string_view token;
    std::uint64_t hash;
    V value;
  };

  std::size_t FreeSlot(std::uint64_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].entry != kFree) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void Grow() {
    const std::size_t size = slots_.size() * 4;
    slots_.assign(size, {});
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::uint64_t hash = entries_[i].hash;
      slots_[FreeSlot(hash)] = {static_cast<std::uint32_t>(hash >> 32U),
                                static_cast<std::uint32_t>(i)};
    }
  }

  std::vector<Slot> slots_;  // A power of two, at most half full.
  std::vector<Entry> entries_;
  V missing_;
};

}  // namespace steelyard::pt2
