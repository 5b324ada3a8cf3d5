// SPDX-License-Identifier: Apache-2.0
#include "record/step_boundaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

StepBoundaries Found(const RecordWriter& record) {
  const Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  return FindStepBoundaries(*recording);
}

RecordWriter OneModule() {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Model");
  return record;
}

TEST(StepBoundaries, WhatTheProgramSaysComesFirst) {
  RecordWriter record = OneModule();
  record.At(5).Add(SY_OPTIMIZER_ENTER).At(8).Add(SY_OPTIMIZER_LEAVE).At(9).Add(SY_STEP);
  const StepBoundaries steps = Found(record);
  EXPECT_EQ(steps.kind, StepBoundary::kGiven);
  EXPECT_THAT(steps.times, ElementsAre(9u));
}

TEST(StepBoundaries, ThenTheOptimizersOfAllThreadsInTheOrderOfTime) {
  RecordWriter record = OneModule();
  record.On(2).At(30).Add(SY_OPTIMIZER_ENTER).At(35).Add(SY_OPTIMIZER_LEAVE);
  record.On(1).At(5).Add(SY_OPTIMIZER_ENTER).At(8).Add(SY_OPTIMIZER_LEAVE);
  const StepBoundaries steps = Found(record);
  EXPECT_EQ(steps.kind, StepBoundary::kOptimizer);
  EXPECT_THAT(steps.times, ElementsAre(8u, 35u));
}

TEST(StepBoundaries, ThenEachCallOfAModel) {
  RecordWriter record = OneModule();
  record.At(5).Add(SY_MODULE_ENTER, 0).At(8).Add(SY_MODULE_LEAVE, 0);
  record.At(15).Add(SY_MODULE_ENTER, 0).At(18).Add(SY_MODULE_LEAVE, 0);
  const StepBoundaries steps = Found(record);
  EXPECT_EQ(steps.kind, StepBoundary::kModel);
  EXPECT_THAT(steps.times, ElementsAre(8u, 18u));
}

// Micro-steps belong to the backward pass that comes after them, and what it computes again to it.
TEST(StepBoundaries, WithABackwardPassAStepEndsWhereTheNextModelIsCalled) {
  RecordWriter record = OneModule();
  for (const std::uint64_t begin : {100u, 200u}) {
    record.At(begin).Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_LEAVE, 0);
    record.Add(SY_NODE_ENTER, 3).Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_LEAVE, 0);
    record.Add(SY_NODE_LEAVE);
  }
  const StepBoundaries steps = Found(record);
  EXPECT_EQ(steps.kind, StepBoundary::kModel);
  EXPECT_THAT(steps.times, ElementsAre(199u, UINT64_MAX));
}

TEST(StepBoundaries, OfNothingThereAreNone) {
  const StepBoundaries steps = Found(OneModule());
  EXPECT_EQ(steps.kind, StepBoundary::kNone);
  EXPECT_THAT(steps.times, IsEmpty());
}

}  // namespace
}  // namespace steelyard
