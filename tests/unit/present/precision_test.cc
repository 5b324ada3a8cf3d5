// SPDX-License-Identifier: Apache-2.0
#include "present/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/units.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

CastReport TwoCastsAndOneWide() {
  return {.casts = {{.op = "aten::linear",
                     .of = CastOf::kParameter,
                     .casts = 3,
                     .bytes = 2 * kKiB,
                     .moved = 6000,
                     .at_peak = kKiB},
                    {.op = "aten::gelu",
                     .phase = Phase::kBackward,
                     .from = DType::kBFloat16,
                     .to = DType::kFloat32,
                     .casts = 1,
                     .bytes = kKiB,
                     .moved = 3000}},
          .wide = {{.op = "aten::softmax",
                    .reason = WideReason::kListed,
                    .calls = 2,
                    .work = {.flops_all = 5000}}}};
}

TEST(PrecisionTest, NothingIsToldOfOnePrecision) {
  const WeighedModel model;
  report::Document document;
  AppendPrecision(model.findings(), 10, &document);
  EXPECT_TRUE(document.body.empty());
}

TEST(PrecisionTest, ShowsWhatChangesAndWhatIsCast) {
  const WeighedModel model;
  const CastReport casts = TwoCastsAndOneWide();
  Baseline before{
      .peak_bytes = model.peak.peak + kKiB, .at_peak = model.peak.at_peak, .moved_bytes = 12000};
  Of(before.at_peak, Category::kActivations) += kKiB;
  Findings findings = model.findings();
  findings.autocast = "bfloat16";
  findings.casts = &casts;
  findings.baseline = &before;
  report::Document document;
  AppendPrecision(findings, 10, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, ContainsRegex("Mixed precision +without +bfloat16 +difference"));
  EXPECT_THAT(text, ContainsRegex("peak .*-1.0 KiB"));
  EXPECT_THAT(text, ContainsRegex("activations .*-1.0 KiB"));
  EXPECT_THAT(text, Not(HasSubstr("buffers"))) << "what does not change is left out";
  EXPECT_THAT(text, ContainsRegex("aten::linear +parameters to bfloat16, forward +3 +2.0 KiB"));
  EXPECT_THAT(text, ContainsRegex("aten::softmax +2 .*autocast computes it in float32"));
  // One line each: the rest is summed.
  report::Document brief;
  AppendPrecision(findings, 1, &brief);
  EXPECT_THAT(TextOf(brief), ContainsRegex("1 other +1 +1.0 KiB"));
}

TEST(PrecisionTest, DataHasAllOfIt) {
  const WeighedModel model;
  const CastReport casts = TwoCastsAndOneWide();
  Findings findings = model.findings();
  findings.autocast = "bfloat16";
  findings.casts = &casts;
  report::Data data;
  AddPrecisionData(findings, &data);
  const report::DataView first = *At(data, "precision.casts").begin();
  EXPECT_EQ(first.Find("of")->AsText(), "parameters");
  EXPECT_EQ(first.Find("at_peak")->AsInt(), kKiB);
  EXPECT_EQ((*At(data, "precision.wide").begin()).Find("reason")->AsText(), "listed");
  EXPECT_FALSE(At(data, "precision").Find("without"));
}

}  // namespace
}  // namespace steelyard::present
