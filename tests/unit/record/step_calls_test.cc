// SPDX-License-Identifier: Apache-2.0
#include "record/step_calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace steelyard {
namespace {

constexpr StepCalls::Site kMm{.call = 1, .module = 0, .phase = Phase::kForward};
constexpr StepCalls::Site kAdd{.call = 2, .module = 0, .phase = Phase::kForward};

Watched Told(const StepCalls& calls, std::vector<WatchedStep> steps, std::size_t warmup = 0) {
  Watched watched;
  watched.recording.warmup = warmup;
  watched.steps = std::move(steps);
  calls.Tell(watched);
  return watched;
}

TEST(StepCalls, CallsInOnePlaceAreCountedAndTimed) {
  StepCalls calls;
  calls.Count(kMm);
  calls.Count(kMm);
  calls.AddTime(kMm, 2, 1);
  calls.AddTime(kAdd, 5, 5);  // was taken back
  calls.CountUnknown(kAdd, 3, 0);
  calls.EndStep(0, true, true);
  const Watched watched = Told(calls, {{.seconds = 1}});
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.calls[0].count, 2);
  EXPECT_EQ(watched.calls[0].seconds, 2);
  EXPECT_EQ(watched.calls[0].device_seconds, 1);
  ASSERT_EQ(watched.unknown.size(), 1u);
  EXPECT_EQ(watched.unknown[0].call, 2u);
  EXPECT_EQ(watched.unknown[0].seconds, 3);
}

TEST(StepCalls, WhatDidNotComputeIsNoCall) {
  StepCalls calls;
  calls.Count(kMm);
  calls.TakeBack(kMm);
  EXPECT_TRUE(calls.is_empty());
  calls.TakeBack(kAdd);  // of nothing
  EXPECT_TRUE(calls.is_empty());
}

TEST(StepCalls, TheStepThatMostAreLikeIsTold) {
  StepCalls calls;
  for (std::size_t step = 0; step < 5; ++step) {
    calls.Count(kMm);
    if (step == 2) calls.Count(kAdd);  // a validation
    calls.EndStep(step, true, true);
  }
  const Watched watched = Told(calls, std::vector<WatchedStep>(5, {.seconds = 1}));
  EXPECT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.step_of_calls, 4u);
}

TEST(StepCalls, WhereEachIsAnotherOneThatTakesAsLongAsMostIs) {
  StepCalls calls;
  const std::vector<WatchedStep> steps{{.seconds = 9}, {.seconds = 2}, {.seconds = 1}};
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (std::size_t i = 0; i <= step; ++i) calls.Count(kMm);
    calls.EndStep(step, true, true);
  }
  EXPECT_EQ(Told(calls, steps).step_of_calls, 1u);
}

TEST(StepCalls, StepsThatWereNotRecordedWholeAreNotKept) {
  StepCalls calls;
  calls.Count(kMm);
  calls.EndStep(0, false, true);
  EXPECT_TRUE(calls.is_empty());
  EXPECT_TRUE(Told(calls, {{.seconds = 1}}).calls.empty());
}

TEST(StepCalls, OfManyKindsTheOldestGivesWay) {
  StepCalls calls;
  constexpr std::size_t kSteps = 100;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i <= step; ++i) calls.Count(kMm);
    calls.EndStep(step, true, true);
  }
  std::vector<WatchedStep> steps(kSteps, {.seconds = 1});
  EXPECT_EQ(Told(calls, steps).step_of_calls, kSteps - 1);
}

}  // namespace
}  // namespace steelyard
