// SPDX-License-Identifier: Apache-2.0
#include "memory/caching/steps.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace steelyard {
namespace {

// Allocates blocks and frees some of them again: {3, -1} is a block of 3 bytes and its free.
Timeline TimelineOf(const std::vector<std::int64_t>& bytes,
                    const std::vector<std::uint32_t>& blocks) {
  Timeline timeline;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 0) timeline.blocks.push_back({.bytes = bytes[i]});
    timeline.events.push_back({.bytes = bytes[i], .block = blocks[i]});
  }
  return timeline;
}

constexpr std::int64_t kTaken = 600 * kMiB, kOfDevice = 1000 * kMiB;

TEST(Steps, WholeBlocksAndSegmentsCount) {
  const Timeline step = TimelineOf({1000, -1000}, {0, 0});
  const std::array<const Timeline*, 1> steps{&step};
  const std::array<ResidentBlock, 2> residents{ResidentBlock{100}, ResidentBlock{3 * kMiB}};
  const ReservedUse use = RunSteps(residents, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_FALSE(use.out_of_memory);
  EXPECT_EQ(use.requested, 100 + 3 * kMiB + 1000);
  EXPECT_EQ(use.allocated, 512 + 3 * kMiB + 1024);
  EXPECT_EQ(use.reserved, 22 * kMiB);
  EXPECT_EQ(use.segments, 2);
}

TEST(Steps, WhatOneLeavesIsThereInTheNext) {
  // The first makes a state that stays; the others find it.
  const Timeline first = TimelineOf({30 * kMiB, 2 * kMiB, -2 * kMiB}, {0, 1, 1});
  const Timeline steady = TimelineOf({2 * kMiB, -2 * kMiB}, {0, 0});
  const std::array<const Timeline*, 3> steps{&first, &steady, &steady};
  const ReservedUse use = RunSteps({}, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_EQ(use.requested, 32 * kMiB);
  EXPECT_EQ(use.reserved, 50 * kMiB);
}

TEST(Steps, AResidentThatAStepGivesUpGoes) {
  // A cache is there; a longer one takes its place.
  Timeline step;
  step.blocks = {{.bytes = 4 * kMiB, .resident = true}, {.bytes = 6 * kMiB}, {.bytes = 8 * kMiB}};
  step.events = {{.bytes = 6 * kMiB, .block = 1},
                 {.bytes = -4 * kMiB, .block = 0},
                 {.bytes = 8 * kMiB, .block = 2}};
  const std::array<const Timeline*, 1> steps{&step};
  const std::array<ResidentBlock, 2> residents{ResidentBlock{kMiB},
                                               ResidentBlock{.bytes = 4 * kMiB, .block = 0}};
  const ReservedUse use = RunSteps(residents, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_EQ(use.requested, (1 + 6 + 8) * kMiB);
}

TEST(Steps, WhatAStepGivesUpTheStepBeforeHasLeft) {
  // Both make something that the next one lets go, the first beside a state of the same size.
  const Timeline first = TimelineOf({4 * kMiB, 4 * kMiB}, {0, 1});
  Timeline steady;
  steady.blocks = {{.bytes = 4 * kMiB, .resident = true}, {.bytes = 4 * kMiB}};
  steady.events = {{.bytes = -4 * kMiB, .block = 0}, {.bytes = 4 * kMiB, .block = 1}};
  const std::array<const Timeline*, 3> steps{&first, &steady, &steady};
  const ReservedUse use = RunSteps({}, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_EQ(use.requested, 8 * kMiB);
}

TEST(Steps, WhatAModuleHasKeptIsToldFromAState) {
  // It leaves a state of the same size after what it keeps, and what is no longer asked for.
  Timeline first = TimelineOf({4 * kMiB, 3 * kMiB, 4 * kMiB}, {0, 1, 2});
  first.blocks[0].category = first.blocks[1].category = Category::kCache;
  first.blocks[2].category = Category::kOptimizerState;
  Timeline steady;
  steady.blocks = {{.bytes = 4 * kMiB, .category = Category::kCache, .resident = true},
                   {.bytes = 4 * kMiB, .category = Category::kCache}};
  steady.events = {{.bytes = 4 * kMiB, .block = 1}, {.bytes = -4 * kMiB, .block = 0}};
  const std::array<const Timeline*, 3> steps{&first, &steady, &steady};
  const ReservedUse use = RunSteps({}, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_EQ(use.requested,
            (4 + 4 + 4) * kMiB);  // the state, what was kept and what takes its place
}

TEST(Steps, RepeatedEventsRunAsOftenAsTheySay) {
  Timeline step = TimelineOf({kMiB, 5 * kMiB, -5 * kMiB}, {0, 1, 1});
  step.repeat = {.first = 1, .count = 2, .times = 1000};
  const std::array<const Timeline*, 1> steps{&step};
  const ReservedUse use = RunSteps({}, steps, {}, DeviceMemory(kOfDevice));
  EXPECT_EQ(use.requested, 6 * kMiB);
  EXPECT_EQ(use.reserved, 22 * kMiB);
}

TEST(Steps, ADeviceThatIsTooSmallSaysWhere) {
  const Timeline step = TimelineOf({100 * kMiB, 500 * kMiB}, {0, 1});
  const std::array<const Timeline*, 1> steps{&step};
  const ReservedUse use = RunSteps({}, steps, {}, DeviceMemory(kOfDevice, kTaken));
  ASSERT_TRUE(use.out_of_memory);
  EXPECT_EQ(use.event, 1u);
  EXPECT_EQ(use.out_of_memory->tried, 500 * kMiB);
  EXPECT_EQ(use.out_of_memory->allocated, 100 * kMiB);
}

TEST(Steps, AreFollowedEventByEvent) {
  Timeline step = TimelineOf({6 * kMiB, 3 * kMiB, -6 * kMiB}, {0, 1, 0});
  step.blocks[0].category = Category::kActivations;
  step.blocks[1].category = Category::kGradients;
  const std::array<const Timeline*, 2> steps{&step, &step};
  const std::array<ResidentBlock, 1> residents{
      ResidentBlock{.bytes = 2 * kMiB, .category = Category::kOptimizerState}};
  const std::optional<StepCourse> course =
      FollowSteps(residents, steps, {}, DeviceMemory(kOfDevice));
  ASSERT_TRUE(course);
  ASSERT_EQ(course->levels.size(), 4u);
  EXPECT_EQ(course->levels[0].allocated, 5 * kMiB) << "the first step has left a gradient";
  EXPECT_EQ(course->levels[2].allocated, 14 * kMiB);
  EXPECT_EQ(course->levels[3].inactive, course->levels[3].reserved - 8 * kMiB);
  EXPECT_EQ(course->fullest, 2u);
}

TEST(Steps, AMapSaysWhoseBlocksAreWhereItIsFullest) {
  Timeline step = TimelineOf({6 * kMiB, 3 * kMiB, -6 * kMiB, -3 * kMiB}, {0, 1, 0, 1});
  step.blocks[0].category = Category::kActivations;
  step.blocks[1].category = Category::kGradients;
  const std::array<const Timeline*, 2> steps{&step, &step};
  const std::array<ResidentBlock, 1> residents{
      ResidentBlock{.bytes = 2 * kMiB, .category = Category::kOptimizerState}};
  const std::optional<StepCourse> course =
      FollowSteps(residents, steps, {}, DeviceMemory(kOfDevice));
  ASSERT_TRUE(course);
  ASSERT_EQ(course->segments.size(), 1u);
  const MappedSegment& segment = course->segments[0];
  ASSERT_EQ(segment.blocks.size(), 4u);
  EXPECT_EQ(segment.allocated, 11 * kMiB);
  EXPECT_EQ(course->categories[0], Category::kOptimizerState);
  EXPECT_EQ(course->categories[1], Category::kActivations);
  EXPECT_EQ(course->categories[2], Category::kGradients);
  EXPECT_EQ(segment.blocks[3].state, BlockState::kFree);
}

TEST(Steps, ThatFindNoRoomAreNotFollowed) {
  const Timeline step = TimelineOf({100 * kMiB, 500 * kMiB}, {0, 1});
  const std::array<const Timeline*, 1> steps{&step};
  EXPECT_FALSE(FollowSteps({}, steps, {}, DeviceMemory(kOfDevice, kTaken)));
}

TEST(Steps, WhatIsFreeGoesBackWhereTheTimelineSaysSo) {
  Timeline step = TimelineOf({30 * kMiB, -30 * kMiB, kMiB}, {0, 0, 1});
  step.emptied = {2};
  const std::array<const Timeline*, 1> steps{&step};
  const std::optional<StepCourse> course = FollowSteps({}, steps, {}, DeviceMemory(kOfDevice));
  ASSERT_TRUE(course);
  EXPECT_EQ(course->levels[2].reserved, 30 * kMiB);
  EXPECT_EQ(course->levels[3].reserved, 2 * kMiB);
}

}  // namespace
}  // namespace steelyard
