// SPDX-License-Identifier: Apache-2.0
#include "execute/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
  int told = 0;
  const Measurement measured =
      MeasureExecution(
          execution, {.warmup = 2, .number = 3, .repeat = 4, .progress = [&](int, int) { ++told; }})
          .value();
  EXPECT_EQ(measured.runs, 3 * 4);
  EXPECT_EQ(measured.loss, 2.5);
  EXPECT_EQ(told, 4);
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

TEST(CompareEvents, NamesTheNodesThatDiffer) {
  Timeline predicted, measured;
  predicted.events = {{.bytes = 8, .node = 0}, {.bytes = 4, .node = 1}, {.bytes = -8, .node = 2}};
  measured.events = {{.bytes = 8, .node = 0}, {.bytes = 16, .node = 1}, {.bytes = -8, .node = 2}};
  const std::vector<EventDifference> differences = CompareEvents(predicted, measured, 2);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].node, 1u);
  EXPECT_THAT(differences[0].predicted, ElementsAre(4));
  EXPECT_THAT(differences[0].measured, ElementsAre(16));
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
