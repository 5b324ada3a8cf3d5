// SPDX-License-Identifier: Apache-2.0

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Lion, KeepsOneMoment) {
  EXPECT_EQ(StateBytes("steelyard::lion([%p], False)"), kMatrix);
  EXPECT_THAT(LargeEvents("steelyard::lion([%p], False)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));  // a copy, the update
}

TEST(Lamb, KeepsOneCounterForAll) {
  EXPECT_EQ(StateBytes("steelyard::lamb([%p, %q], False)"), 4 + 2 * 2 * kMatrix);
}

TEST(Lamb, TrustsNoRatioWithoutDecay) {
  const std::vector<std::string> with = StepEvents("steelyard::lamb([%p], False)");
  const std::vector<std::string> without =
      StepEvents("steelyard::lamb([%p], False, weight_decay=0)");
  EXPECT_THAT(with, Contains(Line(1, "aten::gt")).Times(2));
  EXPECT_THAT(without, Contains(Line(1, "aten::gt")).Times(0));
}

TEST(Lans, KeepsTwoMomentsAndTwoUpdates) {
  EXPECT_EQ(StateBytes("steelyard::lans([%p], False)"), 2 * kMatrix);
  std::int64_t now = 0, peak = 0;
  for (const std::int64_t bytes : LargeEvents("steelyard::lans([%p], False)")) {
    now += bytes;
    peak = std::max(peak, now);
  }
  // Two corrected moments, two updates, and the squares of one of them.
  EXPECT_EQ(peak, 5 * kMatrix);
}

// A parameter of 4 x 8 elements is below the least number of elements that are quantized.
TEST(AdamW8Bit, SmallParametersAreKeptWide) {
  constexpr std::int64_t kMaps = 2 * 256 * 4;
  EXPECT_EQ(StateBytes("steelyard::adamw8bit([%p], False)"), kMaps + 2 * kMatrix);
}

TEST(AdamW8Bit, LargeOnesHaveAByteForEachElementAndAScaleForEachBlock) {
  const std::string text =
      "parameter %p: f32[65,100]\n%loss = aten::sum(%p)\nsteelyard::backward(%loss) phase "
      "backward\nsteelyard::adamw8bit([%p], False) phase optimizer\nreturn %loss\n";
  const Timeline timeline = RunEager(KernelsOfProgram(text), Target{});
  constexpr std::int64_t kElements = 65 * 100, kBlocks = 26;  // of 256 elements
  static_assert(kBlocks * 256 >= kElements && (kBlocks - 1) * 256 < kElements);
  EXPECT_EQ(Of(timeline.resident, Category::kOptimizerState),
            2 * 256 * 4 + 2 * (kElements + kBlocks * 4));
}

}  // namespace
}  // namespace steelyard
