// SPDX-License-Identifier: Apache-2.0
//
// Events as SY_PACKED_CHUNK holds them, one to six words of eight bytes each: most say little, and
// a watched program pays for each page that is written. The first word has the ticks since the
// event before, the kind, the flags and the thread; what of the rest is not 0 follows. Where the
// ticks are too many for their place, and where a chunk begins, the time comes first, as an event
// of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/format.h"

namespace steelyard {

namespace packed_internal {

constexpr std::uint64_t kKind = 0x1f, kKey = 0x20, kAmount = 0x40, kId = 0x80;
constexpr unsigned kKindAt = 32, kFlagsAt = 40, kThreadAt = 48;
static_assert(SY_UNRESERVE <= kKind && SY_TIME <= kKind);

}  // namespace packed_internal

constexpr std::size_t kMostPackedWords = 6;

// Writes the event to `words`, which have room for kMostPackedWords, and returns how many it has.
// `last`: the time of the event before in its chunk, 0 where there is none; becomes this one's.
inline std::size_t PackEvent(const SyEvent& event, std::uint64_t& last, std::uint64_t* words) {
  using namespace packed_internal;
  std::size_t count = 0;
  std::uint64_t since = event.time - last;
  last = event.time;
  if ((since >> kKindAt) != 0) {
    words[count++] = (SY_TIME | kKey) << kKindAt;
    words[count++] = event.time;
    since = 0;
  }
  const bool key = event.key != 0, amount = event.amount != 0, id = event.id != 0;
  const std::uint64_t kind =
      event.kind | (key ? kKey : 0) | (amount ? kAmount : 0) | (id ? kId : 0);
  words[count++] = since | kind << kKindAt | std::uint64_t{event.flags} << kFlagsAt |
                   std::uint64_t{event.thread} << kThreadAt;
  // Written whether they stay or not: that is less than to decide.
  words[count] = event.key;
  count += key;
  words[count] = event.amount;
  count += amount;
  words[count] = event.id;
  count += id;
  return count;
}

// Hands each whole event to `on_event`, and returns how many words are left that are none.
template <class OnEvent>
std::size_t UnpackEvents(std::span<const std::uint64_t> words, OnEvent on_event) {
  using namespace packed_internal;
  std::uint64_t time = 0;
  while (!words.empty()) {
    const std::uint64_t head = words[0];
    const std::uint64_t kind = head >> kKindAt;
    const bool key = (kind & kKey) != 0, amount = (kind & kAmount) != 0, id = (kind & kId) != 0;
    const std::size_t count = std::size_t{1} + key + amount + id;
    if (words.size() < count) break;
    const std::uint64_t* rest = words.data() + 1;
    SyEvent event{.time = 0,
                  .key = key ? *rest++ : 0,
                  .amount = amount ? *rest++ : 0,
                  .id = id ? static_cast<std::uint32_t>(*rest++) : 0,
                  .kind = static_cast<std::uint8_t>(kind & kKind),
                  .flags = static_cast<std::uint8_t>(head >> kFlagsAt),
                  .thread = static_cast<std::uint16_t>(head >> kThreadAt)};
    words = words.subspan(count);
    if (event.kind == SY_TIME) {
      time = event.key;
      continue;
    }
    time += head & 0xffffffffu;
    event.time = time;
    on_event(event);
  }
  return words.size();
}

}  // namespace steelyard
