// SPDX-License-Identifier: Apache-2.0

#include "analyze/peak.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace steelyard {
namespace {

// 100 resident; +10 (block 0), +30 (1), -10 (0), +20 (2), +5 (3): highest at +30 and at the end.
Timeline Example() {
  Timeline t;
  Of(t.resident, Category::kParameters) = 100;
  t.blocks = {{.bytes = 10, .allocated = 0, .freed = 2},
              {.bytes = 30, .allocated = 1, .category = Category::kOutputs},
              {.bytes = 20, .allocated = 3},
              {.bytes = 5, .allocated = 4}};
  t.events = {{10, 0}, {30, 1}, {-10, 0}, {20, 2}, {5, 3}};
  return t;
}

TEST(FindPeak, TheFirstHighestTotal) {
  const PeakReport peak = FindPeak(Example());
  EXPECT_EQ(peak.resident, 100);
  EXPECT_EQ(peak.peak_delta, 30 + 20 + 5);
  EXPECT_EQ(peak.event, 4u);
  EXPECT_EQ(peak.live, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(FindPeak, CategoriesSumToThePeak) {
  const PeakReport peak = FindPeak(Example());
  EXPECT_EQ(std::accumulate(peak.at_peak.begin(), peak.at_peak.end(), std::int64_t{0}), peak.peak);
  EXPECT_EQ(Of(peak.at_peak, Category::kOutputs), 30);
  EXPECT_EQ(Of(peak.at_peak, Category::kTemporaries), 20 + 5);
}

TEST(FindPeak, WithoutEventsIsWhatIsResident) {
  Timeline t;
  Of(t.resident, Category::kBuffers) = 9;
  const PeakReport peak = FindPeak(t);
  EXPECT_EQ(peak.peak, 9);
  EXPECT_FALSE(peak.reached_in_step);
  EXPECT_TRUE(peak.live.empty());
}

TEST(Profile, NeverLosesThePeak) {
  std::mt19937 random(1);
  Timeline t;
  for (std::uint32_t i = 0; i < 1000; ++i)
    t.events.push_back({static_cast<std::int64_t>(random() % 2000) - 900, i});
  for (int points : {1, 7, 60, 5000}) {
    const std::vector<std::int64_t> profile = Profile(t, points);
    EXPECT_EQ(profile.size(), static_cast<std::size_t>(points));
    EXPECT_EQ(*std::max_element(profile.begin(), profile.end()), FindPeak(t).peak);
  }
}

}  // namespace
}  // namespace steelyard
