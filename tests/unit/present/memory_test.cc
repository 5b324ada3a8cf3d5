// SPDX-License-Identifier: Apache-2.0
#include "present/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kParameterBytes = kFloat * (8 * 8 + 8 * 8 + 4 * 8);
constexpr std::int64_t kInputBytes = kFloat * 2 * 8;
constexpr std::int64_t kResidentBytes = kParameterBytes + kInputBytes;
constexpr std::int64_t kPeakDelta = kFloat * 2 * 8 + kFloat * 4 * 8;  // a and the scratch

std::string MemoryText(const Findings& findings) {
  report::Document document;
  AppendMemory(findings, {}, &document);
  return TextOf(document);
}

TEST(MemoryTest, TheHeadlineAddsUp) {
  const WeighedModel model;
  static_assert(kResidentBytes + kPeakDelta == 896);
  EXPECT_THAT(MemoryText(model.findings()),
              HasSubstr("peak 896 B = 704 B resident + 192 B in the pass"));
}

TEST(MemoryTest, BarsShowWhatIsThereAndNothingElse) {
  const WeighedModel model;
  const std::string text = MemoryText(model.findings());
  EXPECT_THAT(text, HasSubstr("4 B/param"));
  EXPECT_THAT(text, HasSubstr("temporaries"));
  EXPECT_THAT(text, Not(HasSubstr("gradients")));
  EXPECT_THAT(text, Not(HasSubstr("held outputs"))) << "y comes after the peak";
}

TEST(MemoryTest, ThePeakIsNamedAsTheUserNamesThings) {
  const WeighedModel model;
  const std::string text = MemoryText(model.findings());
  EXPECT_THAT(text,
              HasSubstr("Peak at aten::linear (its aten::mm) in encoder.layer.0, models.py:10."));
  EXPECT_THAT(text, HasSubstr("scratch of a"));
}

TEST(MemoryTest, WhatIsNotNamedAtThePeakIsSummed) {
  WeighedModel model;
  // Seven more blocks live at the peak: two of them and the two that were there are not named.
  constexpr int kMore = 5;
  for (int i = 0; i < kMore; ++i) {
    model.peak.live.push_back(static_cast<std::uint32_t>(model.timeline.blocks.size()));
    model.timeline.blocks.push_back({.bytes = 16, .value = 0, .allocated = 0});
  }
  EXPECT_THAT(MemoryText(model.findings()), HasSubstr("32 B  2 others"));
}

TEST(MemoryTest, AMomentIsToldInsteadOfThePeak) {
  const WeighedModel model;
  PeakReport moment = model.peak;
  moment.calls = 3;
  present::Findings findings = model.findings();
  findings.moment = &moment;
  findings.asked = "linear";
  const std::string text = MemoryText(findings);
  EXPECT_THAT(text, HasSubstr("At linear, the highest of 3 calls: 896 B = 704 B resident + 192 B"));
  EXPECT_THAT(text, HasSubstr("Held at aten::linear"));
  EXPECT_THAT(text, Not(HasSubstr("Peak at")));
}

TEST(MemoryTest, APassWithoutAllocationsHasNoPeakOfItsOwn) {
  WeighedModel model;
  model.timeline.events.clear();
  model.timeline.blocks.clear();
  model.peak = FindPeak(model.timeline);
  const std::string text = MemoryText(model.findings());
  EXPECT_THAT(text, HasSubstr("peak 704 B = 704 B resident + 0 B in the pass"));
  EXPECT_THAT(text, Not(HasSubstr("Peak at")));
}

// Parameters of four bytes, as many of gradients, two moments; a counter is too small to be named.
TEST(MemoryTest, ATrainingStepSaysWhatItKeepsForEachParameter) {
  WeighedModel model;
  const StringId step = model.kernels.strings.Intern("step");
  const StringId mean = model.kernels.strings.Intern("exp_avg");
  model.training = {.gradients = kParameterBytes,
                    .optimizer_state = 2 * kParameterBytes,
                    .parts = {{step, 4}, {mean, 2 * kParameterBytes - 4}}};
  EXPECT_THAT(MemoryText(model.findings()), Not(HasSubstr("Kept for training")));
  Findings findings = model.findings();
  findings.step = "forward, loss, backward, Adam, zero_grad";
  EXPECT_THAT(MemoryText(findings),
              HasSubstr("Kept for training: 16 B/param = parameters 4 B/param + gradients 4 "
                        "B/param + optimizer 8 B/param (exp_avg)"));
}

TEST(MemoryTest, UnmodelledOperatorsMakeItAnEstimate) {
  WeighedModel model;
  model.work.unmodelled = {{.name = "my::op", .calls = 1, .modelled = false, .work = {}}};
  EXPECT_THAT(MemoryText(model.findings()),
              HasSubstr("peak about 896 B = 704 B resident + about 192 B"));
}

TEST(MemoryTest, DataHasEveryCategoryAndTheySumUp) {
  const WeighedModel model;
  report::Data data;
  AddMemoryData(model.findings(), {}, &data);
  EXPECT_EQ(At(data, "memory.resident").AsInt(), kResidentBytes);
  EXPECT_EQ(At(data, "memory.peak").AsInt(), kResidentBytes + kPeakDelta);
  EXPECT_EQ(At(data, "memory.peak_delta").AsInt(), kPeakDelta);
  std::int64_t sum = 0;
  int categories = 0;
  for (const report::DataView part : At(data, "memory.at_peak")) {
    sum += part.AsInt();
    ++categories;
  }
  EXPECT_EQ(sum, kResidentBytes + kPeakDelta);
  EXPECT_EQ(categories, static_cast<int>(kCategoryCount) - 2)
      << "a cache and libraries only where there are";
  EXPECT_EQ(At(data, "memory.peak_op").AsText(), "aten::mm");
  EXPECT_EQ(At(data, "memory.peak_module").AsText(), "encoder.layer.0");
  EXPECT_FALSE(data.root().Find("memory.events"));
}

TEST(MemoryTest, EventsAreInTheDataWhenAskedFor) {
  const WeighedModel model;
  report::Data data;
  AddMemoryData(model.findings(), {.events = true}, &data);
  EXPECT_TRUE(data.root().Find("memory.events"));
}

}  // namespace
}  // namespace steelyard::present
