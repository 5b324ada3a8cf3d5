// SPDX-License-Identifier: Apache-2.0
#include "present/timings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::ContainsRegex;

constexpr std::array<StageTime, 2> kTimes{
    {{.stage = "read", .seconds = 0.003}, {.stage = "decompose", .seconds = 0.001}}};

TEST(TimingsTest, EachStageHasItsShareOfAll) {
  const WeighedModel model;
  Findings findings = model.findings();
  findings.times = kTimes;
  report::Document document;
  AppendTimings(findings, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, ContainsRegex("read +3.0 ms +75.0 %"));
  EXPECT_THAT(text, ContainsRegex("decompose +1.0 ms +25.0 %"));
}

TEST(TimingsTest, DataHasTheOrder) {
  const WeighedModel model;
  Findings findings = model.findings();
  findings.times = kTimes;
  report::Data data;
  AddTimingsData(findings, &data);
  auto stage = At(data, "timings").begin();
  EXPECT_EQ((*stage).Find("stage")->AsText(), "read");
  EXPECT_EQ((*++stage).Find("seconds")->AsDouble(), 0.001);
}

}  // namespace
}  // namespace steelyard::present
