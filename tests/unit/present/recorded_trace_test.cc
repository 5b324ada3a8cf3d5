// SPDX-License-Identifier: Apache-2.0
#include "present/recorded_trace.h"

#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard::present {
namespace {

report::RecordedTrace TraceOf(const RecordWriter& record) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  return PresentSpans(FindSpans(std::move(*recording)));
}

TEST(PresentSpans, ThreadsAreInOneOrderAndArrowsGoBetweenThem) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_CALL, 5, "aten::mm").Entry(SY_NAME, 6, "MmBackward0");
  record.Entry(SY_INPUT_LIST, 5, "[2]\t[1]\tfloat\t\n");
  record.On(2).At(10).Add(SY_NODE_ENTER, 6, 3, 4, 1).Add(SY_NODE_LEAVE);
  record.On(1).At(1).Add(SY_OP_ENTER, 0, 5, 3 + 1).Add(SY_OP_LEAVE);
  record.At(20).Add(SY_OP_ENTER, 0, 5, 9 + 1).Add(SY_OP_LEAVE);
  const report::RecordedTrace trace = TraceOf(record);
  ASSERT_EQ(trace.spans.size(), 3u);
  EXPECT_EQ(trace.names[trace.spans[1].name], "MmBackward0");
  EXPECT_EQ(trace.spans[1].begin, 10 * 1000);
  EXPECT_EQ(trace.spans[0].inputs, trace.spans[2].inputs);
  EXPECT_EQ(trace.spans[1].inputs, report::kNone);
  ASSERT_EQ(trace.arrows.size(), 1u);
  EXPECT_EQ(trace.arrows[0].from, 0u);
  EXPECT_EQ(trace.arrows[0].to, 1u);
}

TEST(PresentSpans, FunctionsKnowTheFunctionAround) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_NAME, 1, "a.py(1): f").Entry(SY_NAME, 2, "a.py(2): g").Entry(SY_CALL, 5, "op");
  record.Add(SY_RANGE_ENTER, 1, 0, 0, 0, SY_FUNCTION_RANGE).Add(SY_OP_ENTER, 0, 5);
  record.Add(SY_RANGE_ENTER, 2, 0, 0, 0, SY_FUNCTION_RANGE);
  const report::RecordedTrace trace = TraceOf(record);
  ASSERT_EQ(trace.spans.size(), 3u);
  EXPECT_EQ(trace.spans[0].parent, report::kNone);
  EXPECT_EQ(trace.spans[2].parent, 0u);
}

}  // namespace
}  // namespace steelyard::present
