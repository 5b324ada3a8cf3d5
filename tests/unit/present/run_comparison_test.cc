// SPDX-License-Identifier: Apache-2.0
#include "present/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;

TEST(RunComparisonTest, TellsBothSideBySide) {
  const WeighedModel model;
  const Findings findings = model.findings();
  const std::vector<EventDifference> differences;
  Measurement slow;
  slow.stages = {{"forward", {2.0, 1.0, 3.0}}};
  slow.runs = 3;
  slow.is_stable = true;
  Measurement fast = slow;
  fast.stages = {{"forward", {1.0, 0.5, 1.5}}};
  fast.warmups = 5;
  fast.is_stable = false;
  const auto run = [&](const Measurement& measurement) {
    return present::Run{.findings = findings,
                        .measurement = measurement,
                        .differences = differences,
                        .torch = "2.0",
                        .peak = 1000,
                        .predicted_peak = 900,
                        .samples = 2};
  };
  const std::array sides{RunSide{"fp32", run(slow)}, RunSide{"bf16", run(fast)}};
  const StageRatio ratio{"forward", RatioOf(slow.stages[0].seconds, fast.stages[0].seconds)};
  report::Document document;
  PresentRunComparison(sides, std::span(&ratio, 1), {}, &document);
  const report::DataView root = document.data.root();
  EXPECT_EQ(root.Find("ratios.forward.median")->AsDouble(), 0.5);
  EXPECT_EQ(root.Find("runs.bf16.time.forward.median")->AsDouble(), 1.0);
  EXPECT_EQ(root.Find("runs.fp32.memory.peak")->AsInt(), 1000);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr("bf16 takes 0.50x the time of fp32"));
  EXPECT_THAT(text, HasSubstr("75.0 % confidence, by 3 repetitions in turns"));
  EXPECT_THAT(text, HasSubstr("bf16: runs did not come to take alike"));
}

}  // namespace
}  // namespace steelyard::present
