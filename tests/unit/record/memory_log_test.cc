// SPDX-License-Identifier: Apache-2.0
#include "record/memory_log.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

Watched Told(const MemoryLog& log, std::size_t step) {
  Watched watched;
  watched.places.resize(1);
  log.Tell(step, watched);
  return watched;
}

TEST(MemoryLog, WhatWasThereBeforeIsResident) {
  MemoryLog log;
  log.Mark(100, {.bytes = 64, .category = Category::kParameters, .tensor = 7});
  log.Allocate(200, 32, 0, Phase::kForward);
  log.Free(200, 0);
  log.EndStep();
  EXPECT_EQ(log.Peaks(), std::vector<std::int64_t>{64 + 32});
  const Watched watched = Told(log, 0);
  EXPECT_EQ(Of(watched.timeline.resident, Category::kParameters), 64);
  EXPECT_EQ(watched.timeline.events.size(), 2u);
  EXPECT_EQ(watched.tensors[0], 7u);
}

TEST(MemoryLog, ALaterStepBeginsWithWhatTheFirstLeft) {
  MemoryLog log;
  log.Allocate(100, 8, 0, Phase::kForward);
  log.EndStep();
  log.Free(100, 0);
  log.Allocate(100, 16, 0, Phase::kForward);
  log.EndStep();
  EXPECT_EQ(log.Peaks(), (std::vector<std::int64_t>{8, 16}));
  const Watched watched = Told(log, 1);
  EXPECT_EQ(watched.timeline.resident_bytes(), 8);
  ASSERT_EQ(watched.timeline.events.size(), 2u);
  EXPECT_EQ(watched.timeline.events[0].bytes, -8);
  EXPECT_EQ(watched.timeline.blocks[0].freed, 0u);
}

TEST(MemoryLog, AnAddressThatIsGivenTwiceWasFreedInBetween) {
  MemoryLog log;
  log.Allocate(100, 8, 0, Phase::kForward);
  log.Allocate(100, 8, 0, Phase::kForward);
  log.EndStep();
  EXPECT_EQ(log.Peaks(), std::vector<std::int64_t>{8});
}

TEST(MemoryLog, WhatIsFreedUnknownIsPassedOver) {
  MemoryLog log;
  log.Free(100, 0);
  log.EndStep();
  EXPECT_TRUE(Told(log, 0).timeline.events.empty());
}

TEST(MemoryLog, TheSurerCategoryStays) {
  MemoryLog log;
  log.Allocate(100, 8, 0, Phase::kForward);
  log.Mark(100, {.bytes = 8, .category = Category::kOutputs});
  log.KeepAllOf(Phase::kForward);
  log.Allocate(200, 8, 0, Phase::kForward);
  log.KeepAllOf(Phase::kForward);
  log.Allocate(300, 8, 0, Phase::kBackward);
  log.EndStep();
  const Watched watched = Told(log, 0);
  EXPECT_EQ(watched.timeline.blocks[0].category, Category::kOutputs);
  EXPECT_EQ(watched.timeline.blocks[1].category, Category::kActivations);
  EXPECT_EQ(watched.timeline.blocks[2].category, Category::kTemporaries);
}

TEST(MemoryLog, WhatADeviceReservesIsToldOfEachStep) {
  MemoryLog log;
  log.Reserve(512);
  log.Reserve(1024);
  log.Reserve(-1024);
  log.EndStep();
  log.EndStep();
  log.Reserve(-4096);  // more than it is known to have
  log.Reserve(256);
  log.EndStep();
  EXPECT_EQ(log.reserved_peaks(), (std::vector<std::int64_t>{1536, 512, 512}));
}

// Batches that another process has made: each in memory of its own, whose end nobody tells.
TEST(MemoryLog, InputsThatNobodyAllocatedAreThereUntilTheStepEnds) {
  MemoryLog log;
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (int call = 0; call < 2; ++call) {
      log.Mark(100 + step, {.bytes = 64, .category = Category::kInputs, .place = 0});
    }
    log.EndStep();
  }
  EXPECT_EQ(log.Peaks(), (std::vector<std::int64_t>{64, 64, 64}));
  // A parameter that is an input first stays.
  log.Mark(200, {.bytes = 8, .category = Category::kInputs, .place = 0});
  log.Mark(200, {.bytes = 8, .category = Category::kParameters, .place = 0});
  log.EndStep();
  log.EndStep();
  EXPECT_EQ(log.Peaks(), (std::vector<std::int64_t>{64, 64, 64, 8, 8}));
}

// As of a parameter that NumPy made, which `parameter.data = ...` puts elsewhere.
TEST(MemoryLog, WhatAParameterHadGoesWhenItHasOtherMemory) {
  MemoryLog log;
  log.Mark(100, {.bytes = 64, .category = Category::kParameters, .tensor = 3, .place = 0});
  log.EndStep();
  log.Allocate(200, 32, 0, Phase::kForward);
  log.Allocate(300, 8, 0, Phase::kForward);
  log.EndStep();
  log.Allocate(400, 8, 0, Phase::kForward);
  log.Mark(200, {.bytes = 32, .category = Category::kParameters, .tensor = 3, .place = 0});
  log.EndStep();
  EXPECT_EQ(log.Peaks(), (std::vector<std::int64_t>{64, 64 + 32, 32 + 8 + 8}));
}

}  // namespace
}  // namespace steelyard
