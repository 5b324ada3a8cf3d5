// SPDX-License-Identifier: Apache-2.0
#include "support/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

using Seen = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(ProgressTest, WithoutCallbackDoesNothing) {
  Progress progress;
  progress.Begin("stage", 10);
  progress.Advance(10);
  progress.End();
}

TEST(ProgressTest, ReportsBeginAndEndEvenWhenQuick) {
  Seen seen;
  Progress progress([&](const ProgressUpdate& at) { seen.emplace_back(at.done, at.total); },
                    std::chrono::hours(1));
  progress.Begin("reading", 5);
  for (int i = 0; i < 5; ++i) progress.Advance();
  progress.End();
  EXPECT_EQ(seen, (Seen{{0, 5}, {5, 5}}));
}

TEST(ProgressTest, ReportsOnTheWayAsOftenAsTheIntervalAllows) {
  Seen seen;
  Progress progress([&](const ProgressUpdate& at) { seen.emplace_back(at.done, at.total); },
                    std::chrono::milliseconds(0));
  progress.Begin("reading", 3);
  for (int i = 0; i < 3; ++i) progress.Advance();
  progress.End();
  EXPECT_EQ(seen, (Seen{{0, 3}, {1, 3}, {2, 3}, {3, 3}, {3, 3}}));
}

TEST(ProgressTest, LooksAtTheClockAThousandTimesAtMost) {
  int calls = 0;
  Progress progress([&](const ProgressUpdate&) { ++calls; }, std::chrono::milliseconds(0));
  progress.Begin("reading", 1'000'000);
  for (int i = 0; i < 1'000'000; ++i) progress.Advance();
  progress.End();
  EXPECT_EQ(calls, 1 + 1000 + 1);
}

TEST(ProgressTest, AnUnknownTotalBecomesWhatWasDone) {
  Seen seen;
  std::string stage;
  Progress progress(
      [&](const ProgressUpdate& at) {
        seen.emplace_back(at.done, at.total);
        stage = at.stage;
      },
      std::chrono::hours(1));
  progress.Begin("scanning");
  progress.Advance(7);
  progress.End();
  EXPECT_EQ(seen, (Seen{{0, 0}, {7, 7}}));
  EXPECT_EQ(stage, "scanning");
}

}  // namespace
}  // namespace steelyard
