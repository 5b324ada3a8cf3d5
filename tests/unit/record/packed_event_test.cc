// SPDX-License-Identifier: Apache-2.0
#include "record/packed_event.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace steelyard {
namespace {

std::vector<std::uint64_t> Packed(const std::vector<SyEvent>& events) {
  std::vector<std::uint64_t> out;
  std::uint64_t last = 0;
  for (const SyEvent& event : events) {
    std::array<std::uint64_t, kMostPackedWords> words{};
    const std::size_t count = PackEvent(event, last, words.data());
    EXPECT_LE(count, words.size());
    out.insert(out.end(), words.begin(), words.begin() + count);
  }
  return out;
}

std::vector<SyEvent> Unpacked(std::span<const std::uint64_t> words, std::size_t left = 0) {
  std::vector<SyEvent> events;
  EXPECT_EQ(UnpackEvents(words, [&](const SyEvent& event) { events.push_back(event); }), left);
  return events;
}

void ExpectEqual(const SyEvent& a, const SyEvent& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.amount, b.amount);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.thread, b.thread);
}

SyEvent Event(std::uint64_t time, SyEventKind kind = SY_OP_LEAVE) {
  return {.time = time,
          .key = 0,
          .amount = 0,
          .id = 0,
          .kind = static_cast<std::uint8_t>(kind),
          .flags = 0,
          .thread = 0};
}

TEST(PackedEvent, AnEndIsOneWord) {
  const std::vector<SyEvent> events{Event(5), Event(9)};
  EXPECT_EQ(Packed(events).size(), 2u);
}

TEST(PackedEvent, AnyEventComesBackAsItWas) {
  std::mt19937_64 random(7);
  std::vector<SyEvent> events;
  std::uint64_t time = random();
  for (int i = 0; i < 10000; ++i) {
    // Now and then long after the one before, or before it.
    const std::uint64_t step = random() >> (8 + random() % 56);
    time = random() % 50 == 0 ? random() : time + step;
    const auto some = [&] { return random() % 3 == 0 ? 0 : random() >> random() % 64; };
    events.push_back({.time = time,
                      .key = some(),
                      .amount = some(),
                      .id = static_cast<std::uint32_t>(some()),
                      .kind = static_cast<std::uint8_t>(1 + random() % SY_UNRESERVE),
                      .flags = static_cast<std::uint8_t>(random()),
                      .thread = static_cast<std::uint16_t>(random())});
  }
  const std::vector<SyEvent> again = Unpacked(Packed(events));
  ASSERT_EQ(again.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) ExpectEqual(again[i], events[i]);
}

TEST(PackedEvent, OneThatIsCutShortIsNone) {
  SyEvent whole = Event(5, SY_ALLOCATE);
  whole.key = 77;
  whole.amount = 400;
  const std::vector<std::uint64_t> words = Packed({Event(4), whole});
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(Unpacked({words.data(), 3}, 2).size(), 1u);
}

}  // namespace
}  // namespace steelyard
