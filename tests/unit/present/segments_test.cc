// SPDX-License-Identifier: Apache-2.0
#include "present/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "steelyard/units.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A segment of which a half is a gradient, a quarter is free and a quarter a parameter.
DeviceMemoryReport Followed() {
  DeviceMemoryReport report;
  StepCourse& course = report.course.emplace();
  course.levels = {{.requested = kMiB, .allocated = kMiB, .reserved = 2 * kMiB, .segments = 1},
                   {.requested = kMiB, .allocated = kMiB, .reserved = 2 * kMiB, .segments = 1},
                   {.requested = 3 * kMiB,
                    .allocated = 3 * kMiB,
                    .reserved = 4 * kMiB,
                    .segments = 1,
                    .active = 3 * kMiB,
                    .inactive = kMiB}};
  course.fullest = 2;
  course.segments = {
      {.address = 100,
       .size = 4 * kMiB,
       .allocated = 3 * kMiB,
       .active = 3 * kMiB,
       .requested = 3 * kMiB,
       .stream = 2,
       .blocks = {
           {.offset = 0, .size = 2 * kMiB, .requested = 2 * kMiB, .state = BlockState::kAllocated},
           {.offset = 2 * kMiB, .size = kMiB},
           {.offset = 3 * kMiB,
            .size = kMiB,
            .requested = kMiB,
            .state = BlockState::kAllocated}}}};
  course.categories = {Category::kGradients, Category::kTemporaries, Category::kParameters};
  return report;
}

TEST(Segments, EachIsALineOfLetters) {
  const WeighedModel model;
  const DeviceMemoryReport device = Followed();
  Findings findings = model.findings();
  findings.device = &device;
  report::Document document;
  AppendSegments(findings, false, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr(std::string(24, 'G') + std::string(12, '.') + std::string(12, 'P')));
  EXPECT_THAT(text, HasSubstr("large, stream 2"));
  EXPECT_THAT(text, HasSubstr("P parameters, G gradients, . free"));
  EXPECT_THAT(text, HasSubstr("4.0 MiB in 1 segment, of which 3.0 MiB are allocated, 1.0 MiB free "
                              "between blocks and 0 B in segments"));
}

TEST(Segments, AreShownTheLargestFirstAndTheRestSummedUp) {
  const WeighedModel model;
  DeviceMemoryReport device = Followed();
  StepCourse& course = *device.course;
  const MappedSegment small{.size = 2 * kMiB, .is_small = true, .blocks = {{.size = 2 * kMiB}}};
  for (int i = 0; i < 20; ++i) {
    course.segments.insert(course.segments.begin(), small);
    course.categories.insert(course.categories.begin(), Category::kTemporaries);
  }
  Findings findings = model.findings();
  findings.device = &device;
  report::Document some, all;
  AppendSegments(findings, false, &some);
  AppendSegments(findings, true, &all);
  EXPECT_THAT(TextOf(some), HasSubstr("5 others"));
  EXPECT_THAT(TextOf(all), Not(HasSubstr("others")));
}

TEST(Segments, TheTablesHaveBlocksAndChanges) {
  const WeighedModel model;
  const DeviceMemoryReport device = Followed();
  Findings findings = model.findings();
  findings.device = &device;
  report::Data data;
  AddSegmentRows(findings, &data);
  AddLevelRows(findings, &data);
  int rows = 0, changes = 0;
  for (const report::DataView row : At(data, "segments")) {
    ++rows;
    if (rows == 2) {
      EXPECT_EQ(row.Find("state")->AsText(), "inactive");
      EXPECT_EQ(row.Find("category")->AsText(), "");
    }
  }
  for (const report::DataView row : At(data, "levels")) {
    ++changes;
    if (changes == 2) {
      EXPECT_EQ(row.Find("after_event")->AsInt(), 1);
    }
  }
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(changes, 2);  // the first event has changed nothing
}

TEST(Segments, NothingIsSaidUnasked) {
  const WeighedModel model;
  DeviceMemoryReport device;
  Findings findings = model.findings();
  findings.device = &device;
  report::Document document;
  AppendSegments(findings, false, &document);
  EXPECT_TRUE(document.body.empty());
}

}  // namespace
}  // namespace steelyard::present
