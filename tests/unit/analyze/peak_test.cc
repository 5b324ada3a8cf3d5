// SPDX-License-Identifier: Apache-2.0

#include "analyze/peak.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/eager.h"

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

TEST(FindPeak, WhatWasThereBeforeIsNotCountedTwice) {
  Timeline t;
  Of(t.resident, Category::kCache) = 50;
  t.blocks = {{.bytes = 50, .freed = 1, .category = Category::kCache, .resident = true},
              {.bytes = 60, .allocated = 0, .category = Category::kCache},
              {.bytes = 70, .allocated = 2}};
  t.events = {{60, 1}, {-50, 0}, {70, 2}};
  const PeakReport peak = FindPeak(t);
  EXPECT_EQ(peak.peak, 50 + 60 - 50 + 70);
  EXPECT_EQ(Of(peak.at_peak, Category::kCache), 60) << "the old one is gone";
  EXPECT_EQ(peak.live, (std::vector<std::uint32_t>{2, 1}));
}

constexpr std::string_view kThree =
    "input %x: f32[8]\n"
    "%tanh: f32[8] = aten::tanh(%x)\n"
    "%tanh_1: f32[8] = aten::tanh(%tanh)\n"
    "%v: f32[2,4] = aten::view(%tanh_1, [2, 4])\n"
    "%s: f32[2,1] = aten::sum.dim_IntList(%v, [1], True)\n"
    "return %s, %tanh\n";

std::optional<PeakReport> Moment(std::string_view name) {
  const Result<Program> imported = ParseText(kThree, "test.syt");
  const Result<Program> kernels = Dispatcher(*imported, Target{}).Run();
  return FindMoment(*imported, *kernels, RunEager(*kernels, Target{}), name);
}

TEST(FindMoment, AnOperatorIsItsHighestCall) {
  for (const std::string_view name : {"aten::tanh", "tanh"}) {
    const std::optional<PeakReport> moment = Moment(name);
    ASSERT_TRUE(moment) << name;
    EXPECT_EQ(moment->calls, 2);
    EXPECT_EQ(moment->peak, 8 * 4 + 2 * (8 * 4));
    EXPECT_EQ(moment->live.size(), 2u);
  }
  EXPECT_TRUE(Moment("sum.dim_IntList"));
  EXPECT_TRUE(Moment("aten::sum"));
}

TEST(FindMoment, ACallIsNamedByItsResult) {
  const std::optional<PeakReport> call = Moment("tanh_1");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->calls, 1);
  EXPECT_EQ(call->peak_delta, 2 * (8 * 4));
}

TEST(FindMoment, AViewHoldsWhatIsThereAroundIt) {
  const std::optional<PeakReport> view = Moment("view");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->peak_delta, 2 * (8 * 4));
}

TEST(FindMoment, WhatIsNotCalledHasNone) { EXPECT_FALSE(Moment("conv2d")); }

TEST(FindPeak, WithoutEventsIsWhatIsResident) {
  Timeline t;
  Of(t.resident, Category::kBuffers) = 9;
  const PeakReport peak = FindPeak(t);
  EXPECT_EQ(peak.peak, 9);
  EXPECT_FALSE(peak.reached_in_step);
  EXPECT_TRUE(peak.live.empty());
}

std::vector<std::int64_t> TotalsOf(const std::vector<Level>& levels) {
  std::vector<std::int64_t> out;
  for (const Level& level : levels) out.push_back(level.total);
  return out;
}

TEST(Profile, NeverLosesThePeak) {
  std::mt19937 random(1);
  Timeline t;
  t.blocks.resize(1000);
  for (std::uint32_t i = 0; i < 1000; ++i)
    t.events.push_back({static_cast<std::int64_t>(random() % 2000) - 900, i});
  for (int points : {1, 7, 60, 5000}) {
    const std::vector<std::int64_t> profile = TotalsOf(Profile(t, points));
    EXPECT_EQ(profile.size(), static_cast<std::size_t>(points));
    EXPECT_EQ(*std::max_element(profile.begin(), profile.end()), FindPeak(t).peak);
  }
}

TEST(Profile, ThePartsOfALevelSumToIt) {
  Timeline t;
  Of(t.resident, Category::kParameters) = 10;
  t.blocks = {{.bytes = 20, .category = Category::kActivations},
              {.bytes = 5, .category = Category::kTemporaries}};
  t.events = {{20, 0}, {5, 1}, {-5, 1}, {-20, 0}};
  const std::vector<Level> profile = Profile(t, 1);
  EXPECT_EQ(profile[0].total, 10 + 20 + 5);
  EXPECT_EQ(Of(profile[0].parts, Category::kParameters), 10);
  EXPECT_EQ(Of(profile[0].parts, Category::kActivations), 20);
  EXPECT_EQ(Of(profile[0].parts, Category::kTemporaries), 5);
}

// One run of repeated events stands for seven: the same profile as with all of them written out.
TEST(Profile, GoesThroughRepeatedEventsAsOftenAsTheyHappen) {
  Timeline folded;
  folded.resident = {};
  folded.blocks.resize(1);
  for (const std::int64_t bytes : {100, 20, -20, 50, 30, -80, 40, 5}) {
    folded.events.push_back({bytes, 0});
  }
  folded.repeat = {.first = 3, .count = 3, .times = 7};
  Timeline unrolled = folded;
  unrolled.repeat = {};
  for (int i = 1; i < 7; ++i) {
    unrolled.events.insert(unrolled.events.begin() + 3, folded.events.begin() + 3,
                           folded.events.begin() + 6);
  }
  ASSERT_EQ(folded.length(), unrolled.length());
  for (const int points : {1, 2, 3, 5, 7, 8, 13, 26, 27, 100}) {
    EXPECT_EQ(TotalsOf(Profile(folded, points)), TotalsOf(Profile(unrolled, points))) << points;
  }
  folded.repeat.times = std::int64_t{1} << 40;
  EXPECT_EQ(TotalsOf(Profile(folded, 4)), (std::vector<std::int64_t>{180, 180, 180, 180}));
}

}  // namespace
}  // namespace steelyard
