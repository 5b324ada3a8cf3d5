// SPDX-License-Identifier: Apache-2.0
#include "present/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;

std::string OperatorsText(const Findings& findings, int top) {
  report::Document document;
  AppendOperators(findings, top, &document);
  return TextOf(document);
}

OperatorWork Cheap(std::string_view name, int calls) {
  return {
      .name = std::string(name), .calls = calls, .work = {.flops_all = 5, .read = 8, .written = 8}};
}

TEST(OperatorsTest, EachHasItsCallsWorkAndBytes) {
  const WeighedModel model;
  const std::string text = OperatorsText(model.findings(), 10);
  EXPECT_THAT(text, HasSubstr("aten::linear"));
  static_assert(2 * (2 * kLayerMacs + kHeadMacs) == 640);
  EXPECT_THAT(text, HasSubstr("640 FLOP"));
  EXPECT_THAT(text, HasSubstr("100.0 %"));
}

TEST(OperatorsTest, ThoseBelowTheTopAreOneRow) {
  WeighedModel model;
  model.work.by_operator.push_back(Cheap("aten::relu", 2));
  model.work.by_operator.push_back(Cheap("aten::gelu", 3));
  const std::string text = OperatorsText(model.findings(), 1);
  EXPECT_THAT(text, HasSubstr("2 others"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("aten::relu")));
}

TEST(OperatorsTest, NoneAreShownWhenNoneAreAskedFor) {
  const WeighedModel model;
  EXPECT_EQ(OperatorsText(model.findings(), 0), "");
}

TEST(OperatorsTest, UnmodelledOnesAreCountedWithTheirShare) {
  WeighedModel model;
  model.work.unmodelled = {{.name = "my::op", .calls = 1, .modelled = false, .work = {}}};
  model.work.calls = 4;
  report::Document document;
  AppendUnmodelled(model.findings(), &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr("totals are lower bounds"));
  EXPECT_THAT(text, HasSubstr("my::op"));
  EXPECT_THAT(text, HasSubstr("25.0 %"));
}

TEST(OperatorsTest, DataTellsModelledFromUnmodelled) {
  WeighedModel model;
  model.work.unmodelled = {{.name = "my::op", .calls = 2, .modelled = false, .work = {}}};
  model.work.calls = 5;
  report::Data data;
  AddOperatorData(model.findings(), &data);
  const report::DataView linear = *At(data, "operators").begin();
  EXPECT_EQ(linear.Find("op")->AsText(), "aten::linear");
  EXPECT_EQ(linear.Find("macs")->AsInt(), 2 * kLayerMacs + kHeadMacs);
  const report::DataView unmodelled = *At(data, "unmodelled").begin();
  EXPECT_EQ(unmodelled.Find("op")->AsText(), "my::op");
  EXPECT_EQ(unmodelled.Find("count")->AsInt(), 2);
  EXPECT_EQ(At(data, "modelled.operators").AsInt(), 3);
  EXPECT_EQ(At(data, "modelled.of").AsInt(), 5);
}

}  // namespace
}  // namespace steelyard::present
