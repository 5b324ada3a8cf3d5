// SPDX-License-Identifier: Apache-2.0
#include "render/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "document/trace.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using ::testing::HasSubstr;

std::string Chrome(const report::Trace& trace) {
  report::Document document;
  document.trace = std::make_shared<const report::Trace>(trace);
  std::string out;
  WriteChromeTrace(document, {}, &out);
  return out;
}

TEST(ChromeTraceTest, ASliceIsACompleteEvent) {
  // 1500 of 1000 ticks a unit: one and a half microseconds.
  report::Trace trace{.ticks_per_unit = 1000};
  trace.slices.push_back({.name = "aten::mm",
                          .category = "kernel",
                          .begin = 1500,
                          .end = 3000,
                          .details = {{"macs", 128}, {"results", "float32 2×8"}}});
  EXPECT_THAT(Chrome(trace),
              HasSubstr(R"({"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "cat": "kernel", )"
                        R"("ts": 1.5, "dur": 1.5, )"
                        R"("args": {"macs": 128, "results": "float32 2×8"}})"));
}

TEST(ChromeTraceTest, ACounterIsAnEventForEachSample) {
  report::Trace trace{.ticks_per_unit = 1};
  trace.counters.push_back({.name = "memory", .unit = Unit::kBytes, .samples = {{0, 4}, {2, 12}}});
  const std::string text = Chrome(trace);
  EXPECT_THAT(text, HasSubstr(R"-("name": "memory (bytes)", "pid": 1, "tid": 1, "ts": 0, )-"
                              R"-("args": {"bytes": 4}})-"));
  EXPECT_THAT(text, HasSubstr(R"("ts": 2, "args": {"bytes": 12}})"));
}

TEST(ChromeTraceTest, AMomentIsAnInstantOfTheWholeTrace) {
  report::Trace trace{.ticks_per_unit = 1};
  trace.moments.push_back({.name = "peak", .at = 2, .details = {{"bytes", 12}}});
  EXPECT_THAT(Chrome(trace),
              HasSubstr(R"({"ph": "i", "name": "peak", "pid": 1, "tid": 1, "ts": 2, )"
                        R"("s": "g", "args": {"bytes": 12}})"));
}

TEST(ChromeTraceTest, SaysWhatRanAndWhatTheAxisIs) {
  const std::string text = Chrome({.name = "Bert \"large\"", .clock = "steps"});
  EXPECT_THAT(text, HasSubstr(R"("otherData": {"clock": "steps"})"));
  EXPECT_THAT(text, HasSubstr(R"("name": "process_name", "pid": 1, "tid": 1, )"
                              R"("args": {"name": "Bert \"large\""}})"));
}

}  // namespace
}  // namespace steelyard::render
