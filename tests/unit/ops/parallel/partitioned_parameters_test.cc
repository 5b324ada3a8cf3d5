// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/partitioned_parameters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine_steps.h"

namespace steelyard::ops {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::int64_t kGathered = 2 * 8 * 4;  // bytes of both parts

// A later step that gathers nothing ahead and keeps nothing, with other options behind.
std::string Eager(std::string_view more = "") {
  return "[0, 1, 0, 1], 2, 0, False, 1, 100, stage3_prefetch_bucket_size=0, "
         "stage3_param_persistence_threshold=0" +
         std::string(more);
}

std::int64_t TimesGathered(const std::string& options) {
  const std::vector<std::string> kernels =
      KernelsOfPhase(KernelsOfProgram(StepOfParts(options)), Phase::kForward);
  const std::vector<std::string> backward =
      KernelsOfPhase(KernelsOfProgram(StepOfParts(options)), Phase::kBackward);
  return CountOf(kernels, "steelyard::give_memory") + CountOf(backward, "steelyard::give_memory");
}

// Both parts of 8, though the parameter has 15 elements.
TEST(PartitionedParameters, WhatIsGatheredAloneIsAParametersMemory) {
  EXPECT_THAT(EventsOfProgram(StepOfParts(Eager())),
              Contains(Line(kGathered, "aten::empty")).Times(3))
      << "it, and both copies of Gloo";
}

TEST(PartitionedParameters, WhatIsUsedAgainSoonIsKept) {
  EXPECT_EQ(TimesGathered(Eager(", stage3_max_reuse_distance=1000")), 1);
  EXPECT_EQ(TimesGathered(Eager(", stage3_max_reuse_distance=0")), 2);
  EXPECT_EQ(TimesGathered("[], 2, 0, True, 1, 100, stage3_param_persistence_threshold=0"), 2)
      << "a first step does not know";
}

TEST(PartitionedParameters, SmallOnesAreWholeBetweenSteps) {
  const auto small = [](std::string_view threshold) {
    return "[0, 1, 0, 1], 2, 0, False, 1, 100, stage3_param_persistence_threshold=" +
           std::string(threshold);
  };
  EXPECT_EQ(ResidentBytes(StepOfParts(small("15")), Role::kParameter), 8 * 4 + kGathered);
  EXPECT_EQ(ResidentBytes(StepOfParts(small("14")), Role::kParameter), 8 * 4);
  EXPECT_EQ(TimesGathered(small("15")), 0);
}

// 16 and 6 elements, out of which 15 and 5 are copied.
TEST(PartitionedParameters, WhatIsGatheredTogetherIsCopiedOut) {
  std::string text = StepOfParts(Eager());
  const auto replace = [&](std::string_view what, std::string_view by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("input %x", "parameter %b: f32[3]\ninput %x");
  replace("[%v], [1]", "[%v, %b], [2]");
  replace("[%v], [2], [5,3], [1], [0]", "[%v, %b], [2, 1], [5,3,5], [1, 1], [0, 1]");
  replace("%whole_0, %inner_0", "%whole_0, %bias, %inner_0");
  replace("%inner_0, %whole_0)", "%inner_0, %whole_0, %bias)");
  const std::vector<std::string> events = EventsOfProgram(text);
  ASSERT_GE(events.size(), 7u);
  EXPECT_EQ(events[0], Line((16 + 6) * 4, "aten::empty"));
  EXPECT_EQ(events[5], Line(15 * 4, "aten::cat"));
  EXPECT_EQ(events[6], Line(5 * 4, "aten::cat"));
}

TEST(PartitionedParameters, AnotherOrderOfModulesIsRefused) {
  EXPECT_THAT(RefusalOfProgram(StepOfParts("[0, 0, 1, 1], 2, 0, False, 1, 100")),
              HasSubstr("the modules' order is another one than in the step before"));
}

}  // namespace
}  // namespace steelyard::ops
