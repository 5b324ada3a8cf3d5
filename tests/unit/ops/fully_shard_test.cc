// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "events.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Gloo sends a copy, and receives into another.
TEST(ShardedStep, GatheringCopiesTwice) {
  EXPECT_THAT(
      EventsOf("steelyard::all_gather_into(f32[6])"),
      ElementsAre(Line(24, "empty"), HasSubstr("-24"), Line(24, "empty"), HasSubstr("-24")));
}

TEST(ShardedStep, OnlyUnevenGradientsAreCopied) {
  EXPECT_THAT(EventsOf("steelyard::chunk_cat_into([f32[2,3]], f32[6], 2)"), IsEmpty());
  EXPECT_THAT(EventsOf("steelyard::chunk_cat_into([f32[2,3], f32[3,5]], f32[26], 2)"),
              ElementsAre(Line(4 * 5 * 4, "empty"), HasSubstr("-80")));
}

TEST(ShardedStep, AUnitNeedsItsStep) {
  const Result<Program> program = ParseText(
      "input %x: f32[2,8]\nsteelyard::leave_fully_shard([%x])\n%loss = aten::sum(%x)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n",
      "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("outside of a step of it"));
}

}  // namespace
}  // namespace steelyard
