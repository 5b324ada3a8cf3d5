// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/partitioned_optimizer.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "engine_steps.h"

namespace steelyard::ops {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kPart = 8 * 4;  // bytes of each process

// `ranks`, and what follows the bucket's size.
std::string PartsAmong(const std::string& ranks, const std::string& bucket = "100",
                       const std::string& more = "") {
  return StepOfParts("[0, 1, 0, 1], " + ranks + ", 0, False, 1, " + bucket + more);
}

// And a mark of overflows, and the norm of the step before.
TEST(PartitionedOptimizer, AMasterSumsAndABucketAreThereForGood) {
  EXPECT_EQ(ResidentBytes(PartsAmong("2"), Role::kOptimizerState), kPart + 1 + 8);
  EXPECT_EQ(ResidentBytes(PartsAmong("2"), Role::kGradient), kPart + 100 * 4);
  EXPECT_EQ(ResidentBytes(PartsAmong("2", "100", ", False"), Role::kGradient), kPart);
  EXPECT_EQ(ResidentBytes(StepOfParts("[], 2, 0, True, 1, 100"), Role::kOptimizerState), kPart + 1)
      << "in the first step";
}

// 15 elements are two parts of 8; 16 would be two parts as they lie.
TEST(PartitionedOptimizer, PartsOfGradientsArePaddedToBeEqual) {
  EXPECT_THAT(EventsOfProgram(PartsAmong("2")), Contains("+64 aten::cat"));
  std::string even = PartsAmong("2");
  even.replace(even.find("[5,3]"), 5, "[2,8]");
  even.replace(even.find("%x: f32[2,3]"), 12, "%x: f32[2,8]");
  EXPECT_THAT(EventsOfProgram(even), Not(Contains("+64 aten::cat")));
}

TEST(PartitionedOptimizer, AGradientWithoutRoomStaysWhereItIs) {
  const std::string at_once = "-60 torch::autograd::AccumulateGrad";
  EXPECT_THAT(EventsOfProgram(PartsAmong("2", "15")), Contains(at_once));
  EXPECT_THAT(EventsOfProgram(PartsAmong("2", "14")), Not(Contains(at_once)));
  EXPECT_THAT(EventsOfProgram(PartsAmong("2", "15", ", False")), Not(Contains(at_once)))
      << "without a bucket";
}

TEST(PartitionedOptimizer, LaterMicroStepsAddToTheSums) {
  const auto added = [](int micro_steps) {
    const Program kernels =
        KernelsOfProgram(StepOfParts("[0, 1, 0, 1], 2, 0, False, 2, 100", micro_steps));
    return CountOf(KernelsOfPhase(kernels, Phase::kBackward), "aten::add_.Tensor");
  };
  EXPECT_EQ(added(1), 0);
  EXPECT_EQ(added(2), 1);
}

TEST(PartitionedOptimizer, TooManyPartsAreRefused) {
  EXPECT_THAT(RefusalOfProgram(PartsAmong("8193")),
              HasSubstr("parts of 8193 processes are not modelled one by one"));
}

}  // namespace
}  // namespace steelyard::ops
