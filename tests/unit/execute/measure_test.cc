// SPDX-License-Identifier: Apache-2.0
#include "execute/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Stages, AreThoseOfAStepAndTakeInEveryNode) {
  const Program kernels = Kernels(kStep);
  const Stages stages = StagesOf(kernels);
  EXPECT_THAT(stages.names, ElementsAre("forward", "backward", "optimizer"));
  NodeId next = 0;
  for (const Stretch& stretch : stages.stretches) {
    EXPECT_EQ(stretch.begin, next);
    next = stretch.end;
  }
  EXPECT_EQ(next, kernels.main().nodes.size());
}

TEST(Seed, IsTheLossBeforeTheBackwardPass) {
  const Program kernels = Kernels(kStep);
  const Seed seed = SeedOf(kernels);
  ASSERT_NE(seed.loss, kNoId);
  EXPECT_EQ(kernels.sizes(seed.loss).size(), 0u);
  EXPECT_EQ(kernels.main().nodes[seed.before].phase, Phase::kBackward);
  EXPECT_EQ(SeedOf(Kernels("input %x: f32[2]\n%y: f32[] = aten::sum(%x)\nreturn %y\n")).loss,
            kNoId);
}

TEST(Measure, TimesEachStageAndListens) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Execution execution = Execution::Open(engine, kernels, {}).value();
  std::vector<int> told;
  const Measurement measured =
      MeasureExecution(execution, {.warmup = 2,
                                   .number = 3,
                                   .repeat = 4,
                                   .progress = [&](int done, int) { told.push_back(done); }})
          .value();
  EXPECT_EQ(measured.runs, 3 * 4);
  EXPECT_EQ(measured.loss, 2.5);
  EXPECT_THAT(told, ::testing::ElementsAre(0, 1, 2, 3, 4)) << "the first runs may take long";
  EXPECT_EQ(measured.detailed_runs, 3);
  EXPECT_GE(measured.warmups, 2);
  ASSERT_EQ(measured.stages.size(), 3u);
  EXPECT_EQ(measured.stages[0].seconds.size(), 4u);
  const std::size_t nodes = kernels.main().nodes.size();
  EXPECT_EQ(measured.timeline.events.size(), 2 * nodes);  // the fake allocates and frees in each
  EXPECT_EQ(measured.timeline.blocks.size(), nodes);
  // The weight and the input, in float32.
  EXPECT_EQ(measured.timeline.resident_bytes(), 4 * (4 * 8 + 2 * 8));
  EXPECT_THAT(measured.seconds, ::testing::Each(1.0)) << "a second of the fake's in every run";
}

TEST(Measure, TellsTheAllocatorsPeaksOfTheRunThatIsListenedTo) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Execution execution = Execution::Open(engine, kernels, {}, {}, "cuda").value();
  const Measurement measured = MeasureExecution(execution, {.warmup = 1, .repeat = 1}).value();
  EXPECT_EQ(measured.allocated_peak, 1024);
  EXPECT_EQ(measured.reserved_peak, 4096);
  EXPECT_THAT(Remembered().words, ::testing::Contains("reset peaks of cuda").Times(1));
}

TEST(Measure, InAGroupAllRunEquallyOften) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Execution execution = Execution::Open(engine, kernels, {}).value();
  const Measurement measured =
      MeasureExecution(execution, {.warmup = 3, .repeat = 2, .runs_in_group = true}).value();
  EXPECT_EQ(measured.warmups, 3);
  EXPECT_EQ(measured.runs, 10 * 2) << "10 to a mean, where nobody says how many";
}

TEST(Measure, StopsWithWhatThereIs) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Execution execution = Execution::Open(engine, kernels, {}).value();
  volatile int stop = 0;
  Remembered().fails_at = SY_NO_CALL;
  const Measurement measured =
      MeasureExecution(execution, {.warmup = 1,
                                   .number = 1,
                                   .repeat = 9,
                                   .stop = &stop,
                                   .progress =
                                       [&](int done, int) {
                                         if (done < 2) return;
                                         stop = 1;
                                         Remembered().fails_at =
                                             0;  // as the engine does where `stop` is set
                                       }})
          .value();
  EXPECT_TRUE(measured.was_interrupted);
  EXPECT_EQ(measured.stages[0].seconds.size(), 2u);
}

TEST(Measure, AKernelThatFailsIsAnError) {
  const SyEngine engine = FakeEngine();
  const Program kernels = Kernels(kStep);
  Execution execution = Execution::Open(engine, kernels, {}).value();
  Remembered().fails_at = 1;
  EXPECT_FALSE(MeasureExecution(execution, {}));
  EXPECT_THAT(Remembered().words, ::testing::Contains("clear"));
}

// The order of the sessions' runs cannot be told from the fake's words: that of the ends of a step.
TEST(Measure, RunsInTurns) {
  const SyEngine engine = FakeEngine();
  const Program small = Kernels("input %x: f32[2]\n%y: f32[2] = aten::exp(%x)\nreturn %y\n");
  const Program large = Kernels(kStep);
  std::vector<Execution> executions;
  executions.push_back(Execution::Open(engine, small, {}).value());
  executions.push_back(Execution::Open(engine, large, {}).value());
  std::vector<std::size_t> begins;
  const std::vector<Measurement> measured =
      MeasureInTurns(executions,
                     {.warmup = 0,
                      .number = 1,
                      .repeat = 2,
                      .progress = [&](int, int) { begins.push_back(Remembered().words.size()); }})
          .value();
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_EQ(measured[0].stages[0].seconds.size(), 2u);
  EXPECT_EQ(measured[1].stages.size(), 3u);
  // The second round goes the other way.
  const std::string of_small = "run 0 " + std::to_string(small.main().nodes.size());
  EXPECT_NE(Remembered().words[begins[1]], of_small);
  EXPECT_EQ(Remembered().words[begins[2] - 2], of_small);
}

TEST(RatioOf, HasAnIntervalOfOrderStatistics) {
  std::vector<double> before(10, 2.0), after;
  for (int i = 1; i <= 10; ++i) after.push_back(i);  // ratios 0.5, 1, ... 5
  const PairedRatio ratio = RatioOf(before, after);
  EXPECT_EQ(ratio.pairs, 10);
  EXPECT_EQ(ratio.median, 2.75);
  // Without one at each end: 1 - 2 * (1 + 10) / 2^10. Without two it would be 0.89.
  EXPECT_EQ(ratio.lowest, 1.0);
  EXPECT_EQ(ratio.highest, 4.5);
  EXPECT_NEAR(ratio.confidence, 1 - 2 * 11 / 1024.0, 1e-12);
}

TEST(RatioOf, OfFewPairsSaysHowLittleItKnows) {
  const std::vector<double> before{1, 1, 1}, after{2, 3, 4, 5};
  const PairedRatio ratio = RatioOf(before, after);
  EXPECT_EQ(ratio.pairs, 3);
  EXPECT_EQ(ratio.lowest, 2);
  EXPECT_EQ(ratio.highest, 4);
  EXPECT_EQ(ratio.confidence, 1 - 2 / 8.0);
  EXPECT_EQ(RatioOf({}, after).pairs, 0);
  EXPECT_EQ(RatioOf(std::vector{1.0}, std::vector{3.0}).confidence, 0);
}

TEST(CompareEvents, NamesTheNodesThatDiffer) {
  Timeline predicted, measured;
  predicted.events = {{.bytes = 8, .node = 0}, {.bytes = 4, .node = 1}, {.bytes = -8, .node = 2}};
  measured.events = {{.bytes = 8, .node = 0}, {.bytes = 16, .node = 1}, {.bytes = -8, .node = 2}};
  Program kernels;
  kernels.main().nodes.resize(2);
  const std::vector<EventDifference> differences = CompareEvents(predicted, measured, kernels);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].node, 1u);
  EXPECT_THAT(differences[0].predicted, ElementsAre(4));
  EXPECT_THAT(differences[0].measured, ElementsAre(16));
}

TEST(CompareEvents, TellsNodesOfAWholeCallOfTheFirst) {
  Timeline predicted, measured;
  predicted.events = {{.bytes = 8, .node = 1}, {.bytes = 4, .node = 2}, {.bytes = -4, .node = 3}};
  measured.events = {{.bytes = 8, .node = 1}, {.bytes = 4, .node = 1}, {.bytes = -4, .node = 1}};
  Program kernels;
  kernels.main().nodes.resize(4);
  EXPECT_EQ(CompareEvents(predicted, measured, kernels).size(), 3u);
  kernels.whole_calls = {{.first = 1, .count = 3}};
  EXPECT_THAT(CompareEvents(predicted, measured, kernels), ::testing::IsEmpty());
}

TEST(SpreadOf, IsTheMiddleAndTheEnds) {
  const Spread odd = SpreadOf(std::vector{3.0, 1.0, 2.0});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.lowest, 1);
  EXPECT_EQ(odd.highest, 3);
  EXPECT_EQ(SpreadOf(std::vector{4.0, 1.0}).median, (4.0 + 1.0) / 2);
  EXPECT_EQ(SpreadOf({}).median, 0);
}

}  // namespace
}  // namespace steelyard
