// SPDX-License-Identifier: Apache-2.0
#include "session/watch.h"

#include <gtest/gtest.h>

#include <string>

#include "../record_writer.h"

namespace steelyard {
namespace {

std::string Step() {
  RecordWriter record(SY_OPS);
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "head", "Linear");
  record.Entry(SY_CALL, 1, "aten::linear(f32[2,3], f32[4,3], f32[4])", 1);
  record.Entry(SY_CALL, 2, "aten::mm(f32[3,2], f32[2,4])", 1);
  record.Entry(SY_CALL, 3, "aten::mm(f32[3,2], f32[5,4])", 1);  // none that runs
  record.Add(SY_OPS_BEGIN).Add(SY_MODULE_ENTER, 0, 10).Add(SY_MODULE_ENTER, 1, 10);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
  record.Add(SY_MODULE_LEAVE, 1, 11).Add(SY_MODULE_LEAVE, 0, 11);
  record.Add(SY_NODE_ENTER, 0, 10, 11, 1);
  record.Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 3).Add(SY_OP_LEAVE);
  record.Add(SY_NODE_LEAVE).Add(SY_STEP);
  return record.Bytes();
}

TEST(Watch, CallsAreWeighedByTheirRows) {
  const Result<Watching> watching = ReadWatch(Step(), "test");
  ASSERT_TRUE(watching) << Describe(watching.error());
  ASSERT_EQ(watching->work.size(), 2u);
  EXPECT_EQ(watching->work[0].macs, 2 * 3 * 4);
  EXPECT_EQ(watching->work[0].flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(watching->work[1].macs, 2 * (3 * 2 * 4));  // two calls
  EXPECT_EQ(watching->watched.calls[1].module, 1u);
  EXPECT_EQ(watching->watched.calls[1].phase, Phase::kBackward);
  EXPECT_EQ(watching->watched.unknown.size(), 1u);
}

TEST(Watch, AConventionThatCountsCallsCountsThemAsTheModelMakesThem) {
  const Result<Watching> watching = ReadWatch(Step(), "test", {.count = "deepspeed"});
  ASSERT_TRUE(watching);
  EXPECT_EQ(watching->work[0].flops, 2 * 3 * 4);       // MACs
  EXPECT_EQ(watching->work[0].beside, 2 * 2 * 3 * 4);  // no bias
}

TEST(Watch, AllThatRanMayBeOneStep) {
  RecordWriter record(SY_OPS);
  record.Module(0, SY_NO_ID, "", "Model").Entry(SY_CALL, 1, "aten::mm(f32[3,2], f32[2,4])", 1);
  record.Add(SY_OPS_BEGIN);
  for (int step = 0; step < 3; ++step) {
    record.Add(SY_MODULE_ENTER, 0, 10).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
    record.Add(SY_MODULE_LEAVE, 0, 11).Add(step < 2 ? SY_STEP : SY_NO_EVENT);
  }
  const Result<Watching> steps = ReadWatch(record.Bytes(), "test");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->watched.steps.size(), 2u);
  EXPECT_EQ(steps->work[0].macs, 3 * 2 * 4);
  const Result<Watching> whole = ReadWatch(record.Bytes(), "test", {.whole = true});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->watched.steps.size(), 1u);
  EXPECT_EQ(whole->work[0].macs, 3 * (3 * 2 * 4));
}

TEST(Watch, AnUnknownConventionIsRefused) {
  const Result<Watching> watching = ReadWatch(Step(), "test", {.count = "guess"});
  ASSERT_FALSE(watching);
  EXPECT_NE(Describe(watching.error()).find("guess"), std::string::npos);
}

TEST(Watch, TheReportSaysWhatIsNotModelled) {
  const Result<Watching> watching = ReadWatch(Step(), "test");
  ASSERT_TRUE(watching);
  const Result<std::string> text = report::Render(Describe(*watching, {}), "text");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("not modelled (aten::mm)"), std::string::npos) << *text;
}

TEST(Watch, AnEngineThatIsNotThereIsNamed) {
  const Result<const SyObserver*> observer = LoadObserver("/nowhere/libsteelyard_engine.so");
  ASSERT_FALSE(observer);
  EXPECT_NE(Describe(observer.error()).find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace steelyard
