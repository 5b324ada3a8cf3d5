// SPDX-License-Identifier: Apache-2.0
#include "present/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/units.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Advice> OneLine() {
  return {{.change = "--recompute 'layer.*'",
           .words = "2 Block run again in the backward pass",
           .peak = 3 * kKiB,
           .less = kKiB,
           .extra_flops = 25,
           .executed_flops = 125}};
}

TEST(AdviceTest, ALineHasTheFlagAndWhatItBrings) {
  const WeighedModel model;
  Findings findings = model.findings();
  const std::vector<Advice> advice = OneLine();
  findings.advice = &advice;
  report::Document document;
  AppendAdvice(findings, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr("--recompute 'layer.*'"));
  EXPECT_THAT(text, HasSubstr("3.0 KiB"));
  EXPECT_THAT(text, HasSubstr("1.0 KiB"));
  EXPECT_THAT(text, HasSubstr("+25.0 %")) << "of a hundred";
  report::Data data;
  AddAdviceData(findings, &data);
  const report::DataView line = *At(data, "advice").begin();
  EXPECT_EQ(line.Find("change")->AsText(), "--recompute 'layer.*'");
  EXPECT_EQ(line.Find("less")->AsInt(), kKiB);
  EXPECT_EQ(line.Find("executed_flops")->AsInt(), 125);
}

TEST(AdviceTest, WhatChangesTrainingIsMarked) {
  const WeighedModel model;
  Findings findings = model.findings();
  std::vector<Advice> advice = OneLine();
  findings.advice = &advice;
  report::Document same;
  AppendAdvice(findings, &same);
  EXPECT_THAT(TextOf(same), Not(HasSubstr("*\n")));
  advice.front().change = "--train sgd";
  advice.front().changes_training = true;
  report::Document other;
  AppendAdvice(findings, &other);
  EXPECT_THAT(TextOf(other), HasSubstr("--train sgd *"));
  EXPECT_THAT(TextOf(other), HasSubstr("* training changes"));
}

TEST(AdviceTest, NothingIsSaidWhereNobodyAsked) {
  const WeighedModel model;
  report::Document document;
  AppendAdvice(model.findings(), &document);
  EXPECT_EQ(TextOf(document), "");
}

TEST(AdviceTest, ThatNothingHelpsIsSaid) {
  const WeighedModel model;
  Findings findings = model.findings();
  const std::vector<Advice> advice;
  findings.advice = &advice;
  report::Document document;
  AppendAdvice(findings, &document);
  EXPECT_THAT(TextOf(document), HasSubstr("nothing that was tried"));
}

}  // namespace
}  // namespace steelyard::present
