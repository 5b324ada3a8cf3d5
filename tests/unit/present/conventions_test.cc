// SPDX-License-Identifier: Apache-2.0
#include "present/conventions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

WorkReport Count(const WeighedModel& model, std::string_view convention, const NodeWork& work) {
  WorkReport count = model.work;
  count.convention = FindConvention(convention);
  count.by_operator = {{.name = "aten::linear", .calls = 3, .work = work}};
  count.by_phase = {};
  count.by_phase[static_cast<std::size_t>(Phase::kForward)] = work;
  return count;
}

// torch's counter forgets the head; the old DeepSpeed takes 7 elements for multiply-adds.
WeighedModel Compared() {
  WeighedModel model;
  model.counts = {
      Count(model, "torch", {.macs = kMacs, .flops = 2 * kMacs, .missed = kHeadMacs}),
      Count(model, "deepspeed", {.macs = kMacs, .flops = kMacs, .beside = 2 * kMacs + 5}),
      Count(model, "deepspeed-2021", {.macs = kMacs, .flops = kMacs + 7})};
  return model;
}

std::string Text(const WeighedModel& model) {
  report::Document document;
  AppendConventions(model.findings(), 10, &document);
  return TextOf(document);
}

TEST(ConventionsTest, NothingToCompareIsNotTold) { EXPECT_EQ(Text(WeighedModel()), ""); }

TEST(ConventionsTest, EachToolHasAColumnAndWhatItGivesBesides) {
  const std::string text = Text(Compared());
  for (const char* header : {"torch", "deepspeed", "deepspeed flops", "deepspeed-2021"}) {
    EXPECT_THAT(text, HasSubstr(header));
  }
  EXPECT_THAT(text, Not(HasSubstr("backward"))) << "a forward pass has none";
}

TEST(ConventionsTest, SaysWhoIsWrongWhere) {
  const std::string text = Text(Compared());
  static_assert(kHeadMacs == 64);
  EXPECT_THAT(text, HasSubstr("torch leaves out 64 MAC: aten::linear 64 MAC"));
  EXPECT_THAT(text, HasSubstr("deepspeed-2021 counts 7 MAC for what is no multiply-add"));
  EXPECT_THAT(text, Not(HasSubstr("deepspeed leaves")));
}

TEST(ConventionsTest, DataHasWhatTheToolsPrint) {
  const WeighedModel model = Compared();
  report::Data data;
  AddConventionData(model.findings(), &data);
  const report::DataView row = *At(data, "counts").begin();
  EXPECT_EQ(row.Find("torch")->AsInt(), 2 * (kMacs - kHeadMacs)) << "without what it forgets";
  EXPECT_EQ(row.Find("deepspeed")->AsInt(), kMacs);
  EXPECT_EQ(row.Find("deepspeed_flops")->AsInt(), 2 * kMacs + 5);
  EXPECT_EQ(row.Find("deepspeed_2021")->AsInt(), kMacs + 7);
  const report::DataView torch = *At(data, "conventions").begin();
  EXPECT_EQ(torch.Find("left_out_macs")->AsInt(), kHeadMacs);
}

}  // namespace
}  // namespace steelyard::present
