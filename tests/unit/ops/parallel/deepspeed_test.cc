// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/deepspeed.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine_steps.h"

namespace steelyard::ops {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kParameters = 15 + 21;  // elements

// Each process has as many, a whole multiple of two.
TEST(ZeroOptimizer, PartitionsAreEqual) {
  EXPECT_EQ(PartitionOf(kParameters, 2), 18);
  EXPECT_EQ(PartitionOf(17, 2), 10);
  EXPECT_EQ(PartitionOf(15, 4), 4);
  EXPECT_EQ(PartitionOf(1, 8), 2);
}

TEST(ZeroOptimizer, ParametersLieInOnePieceBesideAMaster) {
  const std::string on_two = StepOfWhole("2, 2, 0, False, 1, 100");
  EXPECT_EQ(ResidentBytes(on_two, Role::kParameter), kParameters * 4);
  EXPECT_EQ(ResidentBytes(on_two, Role::kOptimizerState), 18 * 4 + 4) << "and the last norm";
  const std::string on_five = StepOfWhole("2, 5, 0, True, 1, 100");
  EXPECT_EQ(ResidentBytes(on_five, Role::kParameter), 5 * 8 * 4);
  EXPECT_EQ(ResidentBytes(on_five, Role::kOptimizerState), 8 * 4);
}

TEST(ZeroOptimizer, StageTwoLetsGradientsGoWhenTheBucketHasThem) {
  const std::string at_once = "-84 torch::autograd::AccumulateGrad";
  EXPECT_THAT(EventsOfProgram(StepOfWhole("2, 2, 0, False, 1, 100")), Contains(at_once));
  EXPECT_THAT(EventsOfProgram(StepOfWhole("1, 2, 0, False, 1, 100")), Not(Contains(at_once)));
  EXPECT_THAT(EventsOfProgram(StepOfWhole("1, 2, 0, False, 1, 100, True")), Contains(at_once))
      << "stage 1, which overlaps";
}

// The second gradient fits none of them; one that is larger than a bucket stays where it is.
TEST(ZeroOptimizer, ABucketWithoutRoomIsReduced) {
  const auto events = [](const std::string& bucket) {
    return EventsOfProgram(StepOfWhole("2, 2, 0, False, 1, " + bucket));
  };
  EXPECT_THAT(events("36"), Contains("+144 aten::cat"));
  EXPECT_THAT(events("35"), Not(Contains("+144 aten::cat")));
  EXPECT_THAT(events("35"), Contains("-84 torch::autograd::AccumulateGrad"));
  const auto copies = [](const std::string& bucket) {
    const Program kernels = KernelsOfProgram(StepOfWhole("2, 2, 0, False, 1, " + bucket));
    return CountOf(KernelsOfPhase(kernels, Phase::kBackward), "aten::copy_");
  };
  EXPECT_EQ(copies("21"), copies("20") + 1);
}

// Of the 36 elements the first 18 are process 0's: a part of either parameter; of the rest only the
// second parameter has some.
TEST(ZeroOptimizer, WhatHasAPartInThePartitionIsKeptWhole) {
  EXPECT_EQ(CountOf(EventsOfProgram(StepOfWhole("2, 2, 0, False, 1, 100")), "+144 aten::empty"), 3)
      << "of the gradients, and two of the gathering";
  const std::vector<std::string> second = EventsOfProgram(StepOfWhole("2, 2, 1, False, 1, 100"));
  EXPECT_EQ(CountOf(second, "+144 aten::empty"), 2);
  EXPECT_EQ(CountOf(second, "+84 aten::empty"), 1);
}

// Stage 1 lets autograd add up gradients, and sums them once; stage 2 adds up what it keeps.
TEST(ZeroOptimizer, StageOneReducesInTheLastMicroStep) {
  const auto times = [](const std::string& stage, std::string_view kernel) {
    const Program kernels =
        KernelsOfProgram(StepOfWhole(stage + ", 2, 0, False, 2, 100", "f32", 2));
    return CountOf(KernelsOfPhase(kernels, Phase::kBackward), kernel);
  };
  EXPECT_EQ(times("1", "steelyard::sum_across_"), 1);
  EXPECT_EQ(times("2", "steelyard::sum_across_"), 2);
  EXPECT_EQ(times("1", "aten::add_.Tensor"), 2);
  EXPECT_EQ(times("2", "aten::add_.Tensor"), 2);
}

TEST(ZeroOptimizer, AStepWithoutGradientsIsRefused) {
  std::string text = StepOfWhole("2, 2, 0, False, 1, 100");
  text.replace(text.find("[%v, %w], [2]"), 13, "[%u], [1]");
  EXPECT_THAT(RefusalOfProgram("parameter %u: f32[4]\n" + text),
              HasSubstr("no parameter has a gradient that DeepSpeed could reduce"));
}

}  // namespace
}  // namespace steelyard::ops
