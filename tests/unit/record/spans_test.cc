// SPDX-License-Identifier: Apache-2.0
//
// One tick is a microsecond, and each event comes one after the last.
#include "record/spans.h"

#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard {
namespace {

Spans SpansOf(const RecordWriter& record) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  return FindSpans(std::move(*recording));
}

const std::string& NameOfSpan(const Spans& spans, std::size_t s) {
  return spans.names[spans.spans[s].name];
}

RecordWriter WithCalls() {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_CALL, 1, "aten::mm.out(f32[2,3], f32[3,4])", 1).Entry(SY_CALL, 2, "custom::op");
  record.Entry(SY_NAME, 7, "MmBackward0").Entry(SY_NAME, 8, "forward");
  return record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "head", "Linear");
}

TEST(Spans, WhatADeviceRunsIsOfTheInnermostThatWasOpen) {
  RecordWriter record = WithCalls();
  record.On(3).At(5).Add(SY_OP_ENTER, 0, 2).At(90).Add(SY_OP_LEAVE);
  record.On(4).At(10).Add(SY_OP_ENTER, 0, 2).At(20).Add(SY_OP_ENTER, 0, 1).At(30);
  record.Add(SY_OP_LEAVE).At(40).Add(SY_OP_LEAVE);
  record.Kernel(7, 25, 70, 80).Kernel(7, 35, 60, 65).Kernel(7, 50, 90, 95).Kernel(7, 0, 1, 2);
  const Spans spans = SpansOf(record);
  ASSERT_EQ(spans.device.size(), 4u);  // as they began there
  EXPECT_EQ(spans.device[0].span, SY_NO_ID);
  EXPECT_EQ(spans.device[1].span, 1u);
  EXPECT_EQ(spans.device[2].span, 2u);
  EXPECT_EQ(spans.device[3].span, SY_NO_ID);
  EXPECT_EQ(spans.threads[spans.device[2].thread], 4u);
  EXPECT_EQ(spans.names[spans.device[2].name], "MmBackward0");
}

TEST(Spans, NestAsTheyWereEntered) {
  RecordWriter record = WithCalls();
  record.At(10).Add(SY_RANGE_ENTER, 8).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_ENTER, 0, 1, 5 + 1);
  record.Add(SY_OP_LEAVE).Add(SY_OP_LEAVE).At(20).Add(SY_RANGE_LEAVE, 8);
  const Spans spans = SpansOf(record);
  ASSERT_EQ(spans.spans.size(), 3u);
  EXPECT_EQ(NameOfSpan(spans, 0), "forward");
  EXPECT_EQ(spans.spans[0].kind, SpanKind::kRange);
  EXPECT_EQ(NameOfSpan(spans, 2), "aten::mm");
  EXPECT_EQ(spans.spans[2].parent, 1u);
  EXPECT_EQ(spans.spans[2].sequence, 5u);
  EXPECT_EQ(spans.spans[1].sequence, SY_NO_SEQUENCE);
  EXPECT_EQ(spans.spans[0].end - spans.spans[0].begin, 20u - 10u);
  EXPECT_EQ(spans.spans[0].inner, 14u - 11u);
  EXPECT_EQ(spans.spans[1].inner, 13u - 12u);
}

TEST(Spans, WhatIsNeverLeftEndsWithWhatItIsIn) {
  RecordWriter record = WithCalls();
  record.At(10).Add(SY_RANGE_ENTER, 8).Add(SY_OP_ENTER, 0, 1).At(30).Add(SY_RANGE_LEAVE, 8);
  record.Add(SY_OP_LEAVE).Add(SY_OP_ENTER, 0, 2);
  const Spans spans = SpansOf(record);
  EXPECT_EQ(spans.spans[1].end, 30u);
  EXPECT_EQ(spans.spans[2].end, 1000u);  // of the record
}

TEST(Spans, OptimizersAreRangesWhereTheRecordHasNoneOfItsOwn) {
  for (const SyLevel level : {SY_OPS, SY_PROFILE}) {
    RecordWriter record(level);
    record.Entry(SY_OPTIMIZER, 0, "SGD");
    record.At(10).Add(SY_OPTIMIZER_ENTER, 0).At(20).Add(SY_OPTIMIZER_LEAVE, 0);
    record.Add(SY_OPTIMIZER_ENTER, 7);  // of which nothing is known
    const Spans spans = SpansOf(record);
    ASSERT_EQ(spans.spans.size(), level == SY_OPS ? 1u : 0u);
    if (level != SY_OPS) continue;
    EXPECT_EQ(NameOfSpan(spans, 0), "Optimizer.step#SGD.step");
    EXPECT_EQ(spans.spans[0].end - spans.spans[0].begin, 20u - 10u);
  }
}

// `__enter__` of a range has returned before what the range is about begins.
TEST(Spans, RangesGoOnWithoutTheFunctionThatBeganThem) {
  RecordWriter record = WithCalls();
  record.Entry(SY_NAME, 9, "contextlib.py(1): __enter__");
  record.At(10).Add(SY_RANGE_ENTER, 9, 0, 0, 0, SY_FUNCTION_RANGE).Add(SY_RANGE_ENTER, 8);
  record.At(20).Add(SY_RANGE_LEAVE, 9, 0, 0, 0, SY_FUNCTION_RANGE).Add(SY_OP_ENTER, 0, 2);
  record.Add(SY_ALLOCATE, 0, 5, 64).Add(SY_OP_LEAVE).At(30).Add(SY_RANGE_LEAVE, 8);
  const Spans spans = SpansOf(record);
  ASSERT_EQ(spans.spans.size(), 3u);
  EXPECT_EQ(NameOfSpan(spans, 1), "forward");
  EXPECT_EQ(spans.spans[0].end, spans.spans[1].begin);
  EXPECT_EQ(spans.spans[0].children, 0u);
  EXPECT_EQ(spans.spans[1].begin, 11u);
  EXPECT_EQ(spans.spans[1].end, 30u);
  EXPECT_EQ(spans.spans[1].parent, SY_NO_ID);
  EXPECT_EQ(spans.spans[1].children, 1u);
  EXPECT_EQ(spans.spans[2].parent, 1u);
}

TEST(Spans, NodesAndWhatTheyCallAreOfTheModuleThatMadeThem) {
  RecordWriter record = WithCalls();
  record.Entry(SY_NAME, 9, "autograd::engine::evaluate_function: MmBackward0");
  record.Add(SY_MODULE_ENTER, 0, 100).Add(SY_MODULE_ENTER, 1, 101);
  record.Add(SY_MODULE_LEAVE, 1, 103).Add(SY_MODULE_LEAVE, 0, 104);
  record.Add(SY_RANGE_ENTER, 9, 0, 0, 0, SY_ENGINE_RANGE).Add(SY_NODE_ENTER, 7, 102, 104, 1);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE).Add(SY_NODE_LEAVE);
  record.Add(SY_RANGE_LEAVE, 9, 0, 0, 0, SY_ENGINE_RANGE);
  const Spans spans = SpansOf(record);
  ASSERT_EQ(spans.spans.size(), 5u);
  EXPECT_EQ(NameOfSpan(spans, 1), "nn.Module: head (Linear)");
  for (std::size_t s = 2; s < 5; ++s) EXPECT_EQ(spans.spans[s].module, 1u) << s;
  EXPECT_EQ(spans.spans[2].sequence, 102u);  // of the node inside it
}

TEST(Spans, MemoryIsOfTheInnermostAndOfWhatWasSeen) {
  RecordWriter record = WithCalls();
  record.Add(SY_FREE, 0, 4096);  // nobody saw it
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_ALLOCATE, 0, 500, 24).Add(SY_OP_LEAVE);
  record.On(2).At(50).Add(SY_FREE, 0, 500);
  const Spans spans = SpansOf(record);
  EXPECT_EQ(spans.spans[0].bytes, 24);
  ASSERT_EQ(spans.memory.size(), 2u);
  EXPECT_EQ(spans.memory[0].total, 24);
  EXPECT_EQ(spans.memory[1].bytes, -24);
  EXPECT_EQ(spans.memory[1].total, 0);
  EXPECT_EQ(spans.memory[1].span, SY_NO_ID);
}

TEST(Spans, TimesOfAThreadNeverGoBack) {
  RecordWriter record = WithCalls();
  record.At(50).Add(SY_OP_ENTER, 0, 1).At(40).Add(SY_OP_LEAVE);
  const Spans spans = SpansOf(record);
  EXPECT_EQ(spans.spans[0].end, 50u);
}

}  // namespace
}  // namespace steelyard
