// SPDX-License-Identifier: Apache-2.0
//
// Times are microseconds: each event comes one after the last.
#include "record/replay.h"

#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard {
namespace {

constexpr double kTick = 1e-6;

Watched Played(const RecordWriter& record) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  return Replay(std::move(*recording), [](const RecordedCall& call) {
    if (!call.complete) return CallIs::kUnknown;
    return call.text.starts_with("aten::empty") ? CallIs::kIdle : CallIs::kWorking;
  });
}

RecordWriter TwoModules(SyLevel level = SY_LIGHT) {
  RecordWriter record(level);
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "head", "Linear");
  return record;
}

TEST(Replay, TimeCountsForTheInnermostModule) {
  RecordWriter record = TwoModules();
  record.At(10).Add(SY_MODULE_ENTER, 0).At(15).Add(SY_MODULE_ENTER, 1);
  record.At(35).Add(SY_MODULE_LEAVE, 1).At(40).Add(SY_MODULE_LEAVE, 0);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.steps.size(), 1u);
  EXPECT_EQ(watched.boundary, StepBoundary::kModel);
  EXPECT_NEAR(Of(watched.modules[1].seconds, Phase::kForward), 20 * kTick, 1e-9);
  EXPECT_NEAR(Of(watched.modules[0].seconds, Phase::kForward), 10 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].forward, 30 * kTick, 1e-9);
}

TEST(Replay, NodesBelongToTheModulesThatMadeThem) {
  RecordWriter record = TwoModules();
  record.Entry(SY_NAME, 3, "MmBackward0").Parameter(0, 1, 6, "head.weight", 77);
  record.Add(SY_MODULE_ENTER, 0, 100).Add(SY_MODULE_ENTER, 1, 101);
  record.Add(SY_MODULE_LEAVE, 1, 103).Add(SY_MODULE_LEAVE, 0, 104);
  record.At(50).Add(SY_NODE_ENTER, 3, 102, 105, 1).At(60).Add(SY_NODE_LEAVE);
  record.At(60).Add(SY_NODE_ENTER, 3, 103, 105, 1).At(65).Add(SY_NODE_LEAVE);
  record.At(65).Add(SY_ACCUMULATE_ENTER, 0, 77).At(69).Add(SY_ACCUMULATE_LEAVE);
  record.At(80).Add(SY_STEP);
  const Watched watched = Played(record);
  EXPECT_NEAR(Of(watched.modules[1].seconds, Phase::kBackward), (10 + 4) * kTick, 1e-9);
  EXPECT_NEAR(Of(watched.modules[0].seconds, Phase::kBackward), 5 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].backward, 19 * kTick, 1e-9);
}

TEST(Replay, WhatRunsAgainInsideANodeIsRecomputing) {
  RecordWriter record = TwoModules();
  record.Add(SY_MODULE_ENTER, 0, 100).Add(SY_MODULE_LEAVE, 0, 101);
  record.At(50).Add(SY_NODE_ENTER, 3, 100, 101, 1);
  record.At(52).Add(SY_MODULE_ENTER, 1, 101).Add(SY_ALLOCATE, 0, 4096, 64);
  record.At(60).Add(SY_MODULE_LEAVE, 1, 104);
  record.At(61).Add(SY_NODE_ENTER, 3, 102, 104, 1).Add(SY_FREE, 0, 4096).Add(SY_NODE_LEAVE);
  record.At(70).Add(SY_NODE_LEAVE).Add(SY_STEP);
  const Watched watched = Played(record);
  EXPECT_NEAR(Of(watched.modules[1].seconds, Phase::kRecompute), 8 * kTick, 1e-9);
  // The node inside is of what was computed again.
  EXPECT_NEAR(Of(watched.modules[1].seconds, Phase::kBackward), 2 * kTick, 1e-9);
  EXPECT_EQ(watched.modules[1].calls, 0);
  ASSERT_EQ(watched.timeline.blocks.size(), 1u);
  EXPECT_EQ(watched.timeline.blocks[0].category, Category::kActivations);
}

TEST(Replay, GradientsAreThoseThatAreAccumulated) {
  RecordWriter record = TwoModules();
  record.Parameter(0, 1, 6, "head.weight", 77);
  record.Mark(900, 24, Category::kParameters, 0);
  record.Add(SY_NODE_ENTER, 0, 1, 1, 1).Add(SY_ALLOCATE, 0, 500, 24).Add(SY_NODE_LEAVE);
  record.Add(SY_ACCUMULATE_ENTER, 0, 77).Add(SY_ACCUMULATE_LEAVE, 0, 500, 24).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.timeline.blocks.size(), 2u);
  EXPECT_EQ(watched.timeline.blocks[1].category, Category::kGradients);
  EXPECT_EQ(watched.tensors[1], 0u);
  EXPECT_EQ(watched.steps[0].peak, 24 + 24);
}

TEST(Replay, WhatWasMadeBeforeAModelWasCalledIsData) {
  RecordWriter record = TwoModules();
  record.Add(SY_ALLOCATE, 0, 500, 24).Add(SY_MODULE_ENTER, 0, 1).Add(SY_ALLOCATE, 0, 600, 12);
  record.Add(SY_MODULE_LEAVE, 0, 1).Add(SY_ALLOCATE, 0, 700, 6);
  record.Add(SY_NODE_ENTER, 0, 1, 1, 1).Add(SY_NODE_LEAVE).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.timeline.blocks.size(), 3u);
  EXPECT_EQ(watched.timeline.blocks[0].category, Category::kInputs);
  EXPECT_EQ(watched.timeline.blocks[1].category, Category::kActivations);
  EXPECT_EQ(watched.timeline.blocks[2].category, Category::kActivations);
}

TEST(Replay, WhatIsBetweenTheLastNodeAndTheOptimizerIsOfNeither) {
  RecordWriter record = TwoModules();
  record.At(10).Add(SY_NODE_ENTER, 0, 1, 1, 1).At(20).Add(SY_NODE_LEAVE);
  record.At(50).Add(SY_OPTIMIZER_ENTER).At(55).Add(SY_OPTIMIZER_LEAVE);
  // One that no backward pass comes before has waited for nothing.
  record.At(70).Add(SY_OPTIMIZER_ENTER).At(75).Add(SY_OPTIMIZER_LEAVE);
  const Watched watched = Played(record);
  ASSERT_GE(watched.steps.size(), 2u);
  EXPECT_NEAR(watched.steps[0].to_optimizer, 30 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].backward, 10 * kTick, 1e-9);
  EXPECT_EQ(watched.steps[1].to_optimizer, 0);
}

TEST(Replay, PassesThatAnOptimizerRunsAreNoneOfItsOwn) {
  RecordWriter record = TwoModules();
  record.At(10).Add(SY_OPTIMIZER_ENTER);
  record.At(20).Add(SY_MODULE_ENTER, 0, 100).At(25).Add(SY_ALLOCATE, 0, 64, 8);
  record.At(30).Add(SY_MODULE_LEAVE, 0, 102);
  record.At(40).Add(SY_NODE_ENTER, 0, 101, 102, 1).At(45).Add(SY_NODE_LEAVE);
  record.At(60).Add(SY_OPTIMIZER_LEAVE);
  const Watched watched = Played(record);
  ASSERT_GE(watched.steps.size(), 1u);
  EXPECT_NEAR(watched.steps[0].forward, 10 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].backward, 5 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].optimizer, (50 - 10 - 5) * kTick, 1e-9);
  EXPECT_EQ(watched.timeline.blocks[0].category, Category::kActivations);
}

TEST(Replay, StepsOfTheWarmUpDoNotCount) {
  const auto steps = [](std::uint32_t warmup) {
    RecordWriter record = TwoModules();
    record.WarmUp(warmup);
    for (std::uint32_t step = 0; step < 4; ++step) {
      record.Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_LEAVE, 0).Add(SY_STEP, step);
    }
    return Played(record);
  };
  EXPECT_EQ(steps(0).first_counted, 0u);
  EXPECT_EQ(steps(0).modules[0].calls, 4);
  EXPECT_EQ(steps(2).first_counted, 2u);
  EXPECT_EQ(steps(2).modules[0].calls, 4 - 2);
  // Where there are no others the last one does.
  EXPECT_EQ(steps(9).first_counted, 3u);
  EXPECT_EQ(steps(9).modules[0].calls, 1);
}

TEST(Replay, AnExceptionEndsWhatItLeaves) {
  RecordWriter record = TwoModules();
  record.Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_ENTER, 1);  // it is raised in here
  record.At(20).Add(SY_MODULE_LEAVE, 0);
  record.At(30).Add(SY_MODULE_ENTER, 0).At(40).Add(SY_MODULE_LEAVE, 0);
  const Watched watched = Played(record);
  EXPECT_NEAR(watched.steps.back().forward, 10 * kTick, 1e-9);
}

TEST(Replay, TheFirstOfSeveralStepsWarmsUp) {
  RecordWriter record = TwoModules();
  for (int i = 0; i < 3; ++i) {
    record.At(100u * i).Add(SY_MODULE_ENTER, 0);
    record.At(100u * i + (i == 0 ? 90 : 10)).Add(SY_MODULE_LEAVE, 0).Add(SY_STEP);
  }
  const Watched watched = Played(record);
  EXPECT_EQ(watched.steps.size(), 3u);
  EXPECT_EQ(watched.first_counted, 1u);
  EXPECT_EQ(watched.modules[0].calls, 2);
  EXPECT_NEAR(Of(watched.modules[0].seconds, Phase::kForward), 20 * kTick, 1e-9);
}

// It computes by itself, into what it has allocated.
TEST(Replay, AnOperatorThatOnlyAllocatesIsToldOf) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 1, "aten::empty([4], f32)", 1);
  record.Entry(SY_CALL, 2, "aten::mm(f32[2,3], f32[3,4])", 1);
  record.Entry(SY_CALL, 3, "custom::kernel").Entry(SY_CALL, 4, "custom::of_others");
  record.Add(SY_OPS_BEGIN).Add(SY_MODULE_ENTER, 1);
  record.Add(SY_OP_ENTER, 0, 3).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 4).Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  record.Add(SY_MODULE_LEAVE, 1).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.unknown.size(), 1u);
  EXPECT_EQ(watched.unknown[0].call, 3u);
}

TEST(Replay, OfCallsInsideOneThatIsTakenNothingIsCounted) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 1, "aten::linear(f32[2,3], f32[4,3])", 1);
  record.Entry(SY_CALL, 2, "aten::mm(f32[2,3], f32[3,4])", 1);
  record.Entry(SY_CALL, 3, "custom::op");
  record.Add(SY_OPS_BEGIN).Add(SY_MODULE_ENTER, 1);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 3).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 3).Add(SY_OP_LEAVE);
  record.Add(SY_MODULE_LEAVE, 1).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.calls.size(), 2u);
  EXPECT_EQ(watched.calls[0].call, 1u);
  EXPECT_EQ(watched.calls[0].count, 1);
  EXPECT_EQ(watched.calls[0].module, 1u);
  EXPECT_NEAR(watched.calls[0].seconds, 3 * kTick, 1e-9);
  EXPECT_EQ(watched.calls[1].count, 1);
  ASSERT_EQ(watched.unknown.size(), 1u);
  EXPECT_EQ(watched.unknown[0].count, 1);
}

TEST(Replay, TheMemoryOfADeviceIsToldWhereThereIsAny) {
  RecordWriter record = TwoModules();
  record.Add(SY_ALLOCATE, 0, 500, 1 << 20).Add(SY_STEP);
  const std::uint16_t first = SY_HOST + 1, second = SY_HOST + 2;
  // What each listener finds there is the same.
  record.Add(SY_RESERVE, 0, 0, 4096, second).Add(SY_RESERVE, 0, 0, 4096, second);
  record.Add(SY_ALLOCATE, 0, 500, 64, first).Add(SY_ALLOCATE, 0, 500, 256, second);
  record.Add(SY_RESERVE, 0, 9000, 512, second).Add(SY_FREE, 0, 500, 0, second);
  record.Add(SY_UNRESERVE, 0, 9000, 512, second).Add(SY_STEP);
  const Watched watched = Played(record);
  EXPECT_EQ(watched.memory_told, second);
  ASSERT_EQ(watched.steps.size(), 2u);
  EXPECT_EQ(watched.steps[0].peak, 0);
  EXPECT_EQ(watched.steps[1].peak, 256);
  EXPECT_EQ(watched.reserved_peak, 4096 + 512);
}

TEST(Replay, WithoutADeviceTheMemoryIsTheHosts) {
  RecordWriter record = TwoModules();
  record.Add(SY_ALLOCATE, 0, 500, 64).Add(SY_ALLOCATE, 0, 600, 64, 60000).Add(SY_STEP);
  const Watched watched = Played(record);  // of a device that there cannot be
  EXPECT_EQ(watched.memory_told, SY_HOST);
  EXPECT_EQ(watched.steps.at(0).peak, 128);
}

// As the last operator of a checkpoint's recomputation, with which that stops.
TEST(Replay, WhatEndsByAnExceptionHasDoneNoWork) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 1, "aten::linear(f32[2,3], f32[4,3])", 1);
  record.Entry(SY_CALL, 2, "aten::mm(f32[2,3], f32[3,4])", 1);
  record.Entry(SY_CALL, 3, "custom::op");
  record.Add(SY_OPS_BEGIN).Add(SY_MODULE_ENTER, 1);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 2);
  record.Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN).Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN);
  record.Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN);
  record.Add(SY_OP_ENTER, 0, 3).Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN);
  record.Add(SY_MODULE_LEAVE, 1).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.calls[0].call, 1u);
  EXPECT_EQ(watched.calls[0].count, 1);
  EXPECT_TRUE(watched.unknown.empty());
}

// As one that saves its result, which stops a checkpoint only when there is one.
TEST(Replay, WhatHasAllocatedBeforeItsExceptionHasWorked) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 1, "aten::linear(f32[2,3], f32[4,3])", 1);
  record.Entry(SY_CALL, 2, "aten::mm(f32[2,3], f32[3,4])", 1);
  record.Entry(SY_CALL, 3, "aten::empty([2,4])").Entry(SY_CALL, 4, "aten::clone(f32[2,3])");
  record.Add(SY_OPS_BEGIN).Add(SY_MODULE_ENTER, 1);
  const auto allocated = [&] {
    record.Add(SY_OP_ENTER, 0, 3).Add(SY_ALLOCATE, 0, 500, 32).Add(SY_OP_LEAVE);
  };
  const auto thrown = [&] { record.Add(SY_OP_LEAVE, 0, 0, 0, 0, SY_THROWN); };
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 2);
  allocated();
  thrown();
  thrown();
  // What a copy of an operand allocates is no result.
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 4);
  allocated();
  record.Add(SY_OP_LEAVE).Add(SY_OP_ENTER, 0, 2);
  thrown();
  thrown();
  record.Add(SY_MODULE_LEAVE, 1).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.calls[0].call, 1u);
  EXPECT_EQ(watched.calls[0].count, 1);
}

// As of a ring that has let its oldest events go.
TEST(Replay, OperatorsAreToldWhoseBeginningIsGone) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 2, "aten::mm(f32[2,3], f32[3,4])", 1);
  record.Add(SY_STEP);
  for (int step = 0; step < 2; ++step) {
    record.Add(SY_MODULE_ENTER, 1).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE);
    record.Add(SY_MODULE_LEAVE, 1).Add(SY_STEP);
  }
  const Watched watched = Played(record);
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.calls[0].count, 1);
}

TEST(Replay, WhatADeviceRunsIsOfWhatAskedForIt) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 9, "aten::mm(f32[2,3], f32[3,4])", 1).Entry(SY_NAME, 4, "gemm");
  record.On(1).At(1).Add(SY_OPS_BEGIN).At(10).Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_ENTER, 1);
  record.At(20).Add(SY_OP_ENTER, 0, 9).At(22).Add(SY_OP_ENTER, 0, 8);  // which nobody knows
  record.At(28).Add(SY_OP_LEAVE).At(30).Add(SY_OP_LEAVE);
  record.At(40).Add(SY_MODULE_LEAVE, 1).Add(SY_MODULE_LEAVE, 0).At(60).Add(SY_STEP);
  record.Kernel(4, 25, 100, 160)
      .Kernel(4, 21, 30, 40);                    // asked for within and before the inner one
  record.Kernel(5, 45, 150, 170, SY_COPY, 512);  // of no module; beside the first
  const Watched watched = Played(record);
  EXPECT_NEAR(Of(watched.modules[1].device_seconds, Phase::kForward), 70 * kTick, 1e-9);
  EXPECT_NEAR(Of(watched.modules[watched.outside()].device_seconds, Phase::kForward), 20 * kTick,
              1e-9);
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_NEAR(watched.calls[0].device_seconds, 70 * kTick, 1e-9);
  EXPECT_NEAR(watched.steps[0].device, 80 * kTick, 1e-9);
  ASSERT_EQ(watched.kernels.size(), 2u);
  EXPECT_EQ(watched.kernels[0].name, 4u);
  EXPECT_EQ(watched.kernels[0].count, 2);
  EXPECT_EQ(watched.kernels[1].kind, SY_COPY);
  EXPECT_EQ(watched.kernels[1].bytes, 512);
}

TEST(Replay, OfAnEqualCallInsideAnotherNoTimeIsAdded) {
  RecordWriter record(SY_OPS);
  record.Entry(SY_CALL, 8, "aten::linear(f32[2,3], f32[4,3])", 1);
  record.Entry(SY_CALL, 9, "aten::mm(f32[2,3], f32[3,4])", 1).Add(SY_OPS_BEGIN);
  record.At(10).Add(SY_OP_ENTER, 0, 9).At(12).Add(SY_OP_LEAVE);
  record.At(20).Add(SY_OP_ENTER, 0, 8).Add(SY_OP_ENTER, 0, 9).At(50).Add(SY_OP_LEAVE);
  record.Add(SY_OP_LEAVE).Add(SY_STEP);
  const Watched watched = Played(record);
  ASSERT_EQ(watched.calls.size(), 2u);
  EXPECT_NEAR(watched.calls[1].seconds, 2 * kTick, 1e-9);
}

TEST(Replay, ThreadsAreReadInTheOrderOfTime) {
  RecordWriter record = TwoModules();
  record.On(1).At(10).Add(SY_ALLOCATE, 0, 500, 24);
  record.On(2).At(20).Add(SY_FREE, 0, 500).Add(SY_ALLOCATE, 0, 500, 8);
  record.On(1).At(30).Add(SY_FREE, 0, 500);
  const Watched watched = Played(record);
  EXPECT_EQ(watched.timeline.events.size(), 4u);
  EXPECT_EQ(watched.steps.at(0).peak, 24);
}

TEST(ReplayMemory, TellsWhatWasThereAndWhatCameAndWent) {
  RecordWriter record = TwoModules();
  record.At(5).Mark(900, 24, Category::kParameters);
  record.At(10).Add(SY_ALLOCATE, 0, 500, 16).Add(SY_STEP).At(20).Add(SY_FREE, 0, 500);
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  ASSERT_TRUE(recording);
  const std::vector<MemoryMoment> history = ReplayMemory(std::move(*recording));
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[0].bytes, 24);
  EXPECT_EQ(history[0].category, Category::kParameters);
  EXPECT_EQ(history[0].tick, 0u);
  EXPECT_EQ(history[1].tick, 10u);
  EXPECT_EQ(history[2].tick, 20u);
  EXPECT_EQ(history[1].bytes + history[2].bytes, 0);
}

// Two steps with one call each, a third with three, and a last with none.
TEST(Replay, TheStepThatMostAreLikeIsTold) {
  RecordWriter record = TwoModules(SY_OPS);
  record.Entry(SY_CALL, 1, "aten::mm(f32[2,3], f32[3,4])", 1).Add(SY_OPS_BEGIN);
  std::uint64_t time = 10;
  for (const int calls : {1, 1, 1, 3, 0}) {
    record.At(time).Add(SY_MODULE_ENTER, 0);
    for (int i = 0; i < calls; ++i) record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_LEAVE);
    record.Add(SY_MODULE_LEAVE, 0).Add(SY_STEP);
    time += 50;
  }
  const Watched watched = Played(record);
  ASSERT_EQ(watched.steps.size(), 5u);
  ASSERT_EQ(watched.calls.size(), 1u);
  EXPECT_EQ(watched.calls[0].count, 1);
  EXPECT_EQ(watched.step_of_calls, 2u);
}

}  // namespace
}  // namespace steelyard
