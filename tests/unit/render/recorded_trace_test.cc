// SPDX-License-Identifier: Apache-2.0
#include "render/recorded_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace steelyard::render {
namespace {

using testing::HasSubstr;

std::string RecordedAsText(const report::RecordedTrace& trace) {
  std::string out;
  WriteRecordedTrace(trace, [&](std::string_view piece) { out += piece; });
  return out;
}

// Kineto's first base after 1970, and half a second.
constexpr std::int64_t kBase = std::int64_t{7'889'238} * 1'000'000'000;

report::RecordedTrace OneCall() {
  report::RecordedTrace trace;
  trace.begin = kBase + 500'000'000;
  trace.end = 9'000;
  trace.process = 77;
  trace.name = "a \"trace\"";
  trace.properties = {{"record_shapes", "1"}};
  trace.names = {"aten::mm", "MmBackward0", "net.py(3): forward"};
  trace.inputs = {{{"[2, 3]", "[3, 1]", "float", ""}, {"[]", "[]", "Scalar", "1"}}};
  trace.threads = {1};
  trace.spans = {{.begin = 1'005, .end = 3'250, .sequence = 6, .name = 0, .inputs = 0},
                 {.begin = 4'000, .end = 5'000, .sequence = 6, .name = 1, .forward_thread = 1},
                 {.begin = 6'000,
                  .end = 6'000,
                  .name = 2,
                  .parent = 0,
                  .kind = report::RecordedKind::kFunction}};
  trace.arrows = {{0, 1}};
  trace.memory = {{.at = 2'000, .address = 4096, .bytes = -24, .total = 8}};
  return trace;
}

TEST(RecordedTrace, OperatorsAreAsKinetoWritesThem) {
  const std::string text = RecordedAsText(OneCall());
  EXPECT_THAT(text, HasSubstr("\"baseTimeNanoseconds\": 7889238000000000,"));
  EXPECT_THAT(text,
              HasSubstr(R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 77, "tid": 77,)"
                        R"( "ts": 500001.005, "dur": 2.245, "args": {"External id": 1,)"
                        R"( "Record function id": 0, "Sequence number": 6, "Fwd thread id": 0,)"
                        R"( "Concrete Inputs": ["", "1"], "Input type": ["float", "Scalar"],)"
                        R"( "Input Strides": [[3, 1], []], "Input Dims": [[2, 3], []],)"
                        R"( "Ev Idx": 0}})"));
  EXPECT_THAT(text, HasSubstr(R"("traceName": "a \"trace\"")"));
}

TEST(RecordedTrace, FunctionsSayInWhichTheyAre) {
  EXPECT_THAT(RecordedAsText(OneCall()),
              HasSubstr(R"("dur": 0.000, "args": {"Python id": 3, "Python parent id": 1,)"));
}

TEST(RecordedTrace, ArrowsAndMemory) {
  const std::string text = RecordedAsText(OneCall());
  EXPECT_THAT(text, HasSubstr(R"({"ph": "s", "id": 1, "pid": 77, "tid": 77, "ts": 500001.005,)"
                              R"( "cat": "fwdbwd", "name": "fwdbwd"})"));
  EXPECT_THAT(text,
              HasSubstr(R"("ts": 500004.000, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})"));
  EXPECT_THAT(text, HasSubstr(R"("Total Allocated": 8, "Bytes": -24, "Device Id": -1,)"
                              R"( "Device Type": 0, "Addr": 4096, "Ev Idx": 3}})"));
}

TEST(RecordedTrace, LongOnesComeInPieces) {
  report::RecordedTrace trace = OneCall();
  trace.spans.resize(5000, trace.spans.back());
  std::size_t pieces = 0;
  std::string all;
  WriteRecordedTrace(trace, [&](std::string_view piece) {
    ++pieces;
    all += piece;
  });
  EXPECT_GT(pieces, 1u);
  EXPECT_THAT(all, HasSubstr("\"Ev Idx\": 4999}}"));
  EXPECT_TRUE(all.ends_with("\n}\n"));
}

TEST(RecordedTrace, OfNothingIsATraceAllTheSame) {
  const std::string text = RecordedAsText({});
  EXPECT_THAT(text, HasSubstr("\"schemaVersion\": 1,"));
  EXPECT_THAT(text, HasSubstr("Record Window End"));
}

}  // namespace
}  // namespace steelyard::render
