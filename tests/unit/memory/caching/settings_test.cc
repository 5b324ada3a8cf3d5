// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/settings.h"

#include <gtest/gtest.h>

#include <string_view>

#include "allocators.h"

namespace steelyard {
namespace {

TEST(RoundedSize, IsAMultipleOfTheQuantum) {
  const AllocatorSettings settings;
  EXPECT_EQ(RoundedSize(settings, 1), 512);
  EXPECT_EQ(RoundedSize(settings, 512), 512);
  EXPECT_EQ(RoundedSize(settings, 513), 2 * 512);
  EXPECT_EQ(RoundedSize(settings, 3 * kMiB + 1), 3 * kMiB + 512);
}

TEST(RoundedSize, DividesTheSizesBetweenPowersOfTwo) {
  const AllocatorSettings settings = Parsed("roundup_power2_divisions:4");
  // Between 1024 and 2048 there are 1280, 1536 and 1792, but so small a size is left alone:
  // up to 4 quanta.
  EXPECT_EQ(RoundedSize(settings, 1200), 3 * 512);
  EXPECT_EQ(RoundedSize(settings, 4 * 512 + 1), 2048 + 2048 / 4);
  EXPECT_EQ(RoundedSize(settings, 64 * kMiB), 64 * kMiB);
  EXPECT_EQ(RoundedSize(settings, 64 * kMiB + 1), 80 * kMiB);
  EXPECT_EQ(RoundedSize(settings, 97 * kMiB), 112 * kMiB);
  EXPECT_EQ(RoundedSize(settings, 127 * kMiB), 128 * kMiB);
}

TEST(RoundedSize, GoesByTheListOfDivisions) {
  const AllocatorSettings settings = Parsed("roundup_power2_divisions:[64:8,256:4,1024:2,>:1]");
  EXPECT_EQ(RoundedSize(settings, 5 * kMiB), 5 * kMiB);                // 4 MiB / 8 divides it
  EXPECT_EQ(RoundedSize(settings, 65 * kMiB), 72 * kMiB);              // up to 128 MiB: eighths
  EXPECT_EQ(RoundedSize(settings, 129 * kMiB + 1), 129 * kMiB + 512);  // 128 MiB is not listed
  EXPECT_EQ(RoundedSize(settings, 257 * kMiB), (256 + 64) * kMiB);
  EXPECT_EQ(RoundedSize(settings, 1025 * kMiB), (1024 + 512) * kMiB);
  EXPECT_EQ(RoundedSize(settings, 3000 * kMiB + 1), 3000 * kMiB + 512);
}

TEST(SegmentSize, DependsOnThePool) {
  AllocatorSettings settings;
  EXPECT_EQ(SegmentSize(settings, 512), 2 * kMiB);
  EXPECT_EQ(SegmentSize(settings, kMiB), 2 * kMiB);
  EXPECT_EQ(SegmentSize(settings, kMiB + 512), 20 * kMiB);
  EXPECT_EQ(SegmentSize(settings, 10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(SegmentSize(settings, 10 * kMiB), 10 * kMiB);
  EXPECT_EQ(SegmentSize(settings, 10 * kMiB + 512), 12 * kMiB);
  settings.large_segment_size = 64 * kMiB;
  EXPECT_EQ(SegmentSize(settings, kMiB + 512), 64 * kMiB);
}

TEST(AllocatorSettingsOfTorch, OlderVersionsGoByAddress) {
  EXPECT_EQ(AllocatorSettingsOfTorch(2, 9).tie_break, TieBreak::kAddress);
  EXPECT_EQ(AllocatorSettingsOfTorch(2, 15).tie_break, TieBreak::kSegmentAge);
}

}  // namespace
}  // namespace steelyard
