// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/fully_shard.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// A layer of 4 x 8 of which this process has the first two rows, one of the root.
std::vector<std::string> EventsOfRoot(const std::string& options) {
  return EventsOfProgram(
      "parameter %w: f32[2,8]\ninput %x: f32[2,8]\n"
      "%whole = steelyard::enter_fully_shard([%w], [4], [0], [''], 2, " +
      options +
      ")\n%y = aten::linear(%x, %whole)\n%loss = aten::sum(%y)\n"
      "steelyard::leave_fully_shard([%loss])\nsteelyard::backward(%loss) phase backward\n"
      "return %loss\n");
}

std::size_t EventsWith(const std::vector<std::string>& events, const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      events, [&](const std::string& event) { return event.find(text) != std::string::npos; }));
}

TEST(FullyShard, TheRootIsGatheredOnceAndReducedWhenTheBackwardPassEnds) {
  const std::vector<std::string> events = EventsOfRoot("False, False");
  EXPECT_EQ(EventsWith(events, "all_gather_copy_out"), 1u);
  EXPECT_EQ(EventsWith(events, "post_backward_reshard"), 1u);
  EXPECT_EQ(EventsWith(events, "post_backward_reduce"), 2u) << "the gradient, and Gloo's copy";
  EXPECT_EQ(EventsWith(events, "root_post_backward_callback"), 1u);
}

// In the first step tensors are made that later ones only give memory.
TEST(FullyShard, TheFirstStepMakesTensors) {
  EXPECT_EQ(EventsWith(EventsOfRoot("False, True"), "all_gather_copy_out"), 0u);
}

}  // namespace
}  // namespace steelyard
