// SPDX-License-Identifier: Apache-2.0
#include "present/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "document/trace.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

report::Trace Traced(const WeighedModel& model) {
  report::Document document;
  PresentTrace(model.findings(), &document);
  return *document.trace;
}

std::vector<std::string> Names(const report::Trace& trace, std::string_view category) {
  std::vector<std::string> names;
  for (const report::Slice& slice : trace.slices) {
    if (slice.category == category) names.push_back(slice.name);
  }
  return names;
}

TEST(TraceTest, KernelsAreStepsInsideModules) {
  const WeighedModel model;
  const report::Trace trace = Traced(model);
  EXPECT_EQ(trace.name, "Tiny");
  EXPECT_THAT(Names(trace, "phase"), ElementsAre("forward"));
  EXPECT_THAT(Names(trace, "module"), ElementsAre("Tiny", "encoder: Encoder", "layer.0: Layer",
                                                  "layer.1: Layer", "head: Linear"));
  EXPECT_THAT(Names(trace, "operator"),
              ElementsAre("aten::linear", "aten::linear", "aten::linear"));
  std::vector<std::int64_t> begins;
  for (const report::Slice& slice : trace.slices) {
    if (slice.category == "kernel") begins.push_back(slice.begin / trace.ticks_per_unit);
  }
  EXPECT_THAT(begins, ElementsAre(0, 1, 2));
}

TEST(TraceTest, SlicesNest) {
  const WeighedModel model;
  std::vector<report::Slice> open;
  for (const report::Slice& slice : Traced(model).slices) {
    while (!open.empty() && open.back().end <= slice.begin) open.pop_back();
    EXPECT_LT(slice.begin, slice.end) << slice.name;
    if (!open.empty()) {
      EXPECT_LE(slice.end, open.back().end) << slice.name;
    }
    open.push_back(slice);
  }
}

TEST(TraceTest, TheCounterFollowsTheEvents) {
  const WeighedModel model;
  const report::Trace trace = Traced(model);
  const report::Counter& memory = trace.counters.front();
  const std::int64_t resident = model.timeline.resident_bytes();
  // a and scratch; scratch goes; b; a goes between two kernels; y; b goes; the caller lets y go.
  std::vector<std::int64_t> above;
  for (const report::Sample& sample : memory.samples) above.push_back(sample.value - resident);
  EXPECT_THAT(above, ElementsAre(0, 64, 192, 64, 128, 64, 96, 32, 0));
  // Three events inside the first kernel: at its quarters. One on the border of the second.
  EXPECT_EQ(memory.samples[1].at, 250);
  EXPECT_EQ(memory.samples[3].at, 750);
  EXPECT_EQ(memory.samples[5].at, 2000);
}

TEST(TraceTest, CategoriesSumUpToTheMemory) {
  const WeighedModel model;
  const report::Trace trace = Traced(model);
  std::int64_t sum = 0;
  for (const report::Counter& counter : trace.counters) sum += counter.samples.front().value;
  EXPECT_EQ(sum, 2 * trace.counters.front().samples.front().value) << "the first is all of them";
}

TEST(TraceTest, ThePeakIsMarked) {
  const WeighedModel model;
  EXPECT_THAT(Traced(model).moments, ElementsAre(Field(&report::Moment::at, 500)))
      << "the scratch, the second of three events of the first kernel";
}

}  // namespace
}  // namespace steelyard::present
