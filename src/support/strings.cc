// SPDX-License-Identifier: Apache-2.0
//
// A program is taken from pass to pass and its strings with it, millions in a large one: so tables
// share them in layers, and a table that adds to shared strings puts a layer of its own on top.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "steelyard/tables.h"
#include "support/hash.h"

namespace steelyard {
namespace {

// Slots for the names of a small model before the first growth.
constexpr std::size_t kFirstSlots = 1024;
// With more layers than this, finding a string would take longer than copying them once.
constexpr std::uint32_t kMaxDepth = 4;

// Names that differ in their last digit alone get neighbouring slots: they are made one after the
// other, and a large table is far from the processor.
std::uint32_t HashOf(std::string_view text) {
  const auto last = static_cast<unsigned char>(text.back());
  return static_cast<std::uint32_t>(HashText(text.substr(0, text.size() - 1)) + last);
}

}  // namespace

StringTable::StringTable() : top_(std::make_shared<Layer>()) {
  top_->slots.resize(kFirstSlots);
  top_->spans.push_back({0, 0});
}

// The slot that holds `text`, or the free one where it belongs.
const StringTable::Slot& StringTable::Layer::SlotOf(std::string_view text,
                                                    std::uint32_t hash) const {
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots[at];
    if (slot.id == kNoString) return slot;
    if (slot.hash != hash) continue;
    const Span& span = spans[slot.id - first];
    if (span.size == text.size() &&
        std::memcmp(bytes.data() + span.begin, text.data(), text.size()) == 0) {
      return slot;
    }
  }
}

void StringTable::Layer::Grow() {
  const std::vector<Slot> before = std::exchange(slots, std::vector<Slot>(slots.size() * 2));
  const std::size_t mask = slots.size() - 1;
  for (const Slot& slot : before) {
    if (slot.id == kNoString) continue;
    std::size_t at = slot.hash & mask;
    while (slots[at].id != kNoString) at = (at + 1) & mask;
    slots[at] = slot;
  }
}

StringId StringTable::Layer::Add(std::string_view text, std::uint32_t hash) {
  const std::size_t begin = bytes.size();
  // Spans are 32 bits wide. No file within the importers' limits comes near.
  if (text.size() > UINT32_MAX - begin) return kNoString;
  if (spans.size() * 4 >= slots.size() * 3) Grow();
  // `text` may be a part of a string that is here already, which growing moves.
  const char* base = bytes.data();
  const bool inside =
      std::greater_equal<>{}(text.data(), base) && std::less<>{}(text.data(), base + begin);
  const std::size_t offset = inside ? static_cast<std::size_t>(text.data() - base) : 0;
  bytes.resize(begin + text.size());
  const char* const from = inside ? bytes.data() + offset : text.data();
  std::memcpy(bytes.data() + begin, from, text.size());
  const auto id = static_cast<StringId>(first + spans.size());
  spans.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text.size())});
  std::size_t at = hash & (slots.size() - 1);
  while (slots[at].id != kNoString) at = (at + 1) & (slots.size() - 1);
  slots[at] = {hash, id};
  return id;
}

// Makes the topmost layer one that no other table has.
void StringTable::Own() {
  if (top_.use_count() == 1) return;
  if (top_->depth < kMaxDepth) {
    auto layer = std::make_shared<Layer>();
    layer->first = static_cast<StringId>(size());
    layer->depth = top_->depth + 1;
    layer->slots.resize(kFirstSlots);
    layer->below = std::move(top_);
    top_ = std::move(layer);
    return;
  }
  StringTable flat;
  for (StringId id = 1; id < size(); ++id) flat.top_->Add(view(id), HashOf(view(id)));
  top_ = std::move(flat.top_);
}

StringId StringTable::Find(std::string_view text, std::uint32_t hash) const {
  for (const Layer* layer = top_.get(); layer != nullptr; layer = layer->below.get()) {
    if (const StringId id = layer->SlotOf(text, hash).id; id != kNoString) return id;
  }
  return kNoString;
}

StringId StringTable::Find(std::string_view text) const {
  return text.empty() ? kNoString : Find(text, HashOf(text));
}

StringId StringTable::Intern(std::string_view text) {
  if (text.empty()) return kNoString;
  const std::uint32_t hash = HashOf(text);
  if (const StringId id = Find(text, hash); id != kNoString) return id;
  Own();
  return top_->Add(text, hash);
}

}  // namespace steelyard
