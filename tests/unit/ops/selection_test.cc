// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"
#include "events.h"
#include "programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(Selection, NonzeroGivesAPositionForEachElementAtMost) {
  EXPECT_EQ(ResultOf("aten::nonzero(f32[4,6])"), "i64[24,2]{1,24}");
  EXPECT_EQ(ResultOf("aten::nonzero(f32[])"), "i64[1,0]");
  EXPECT_THAT(EventsOf("aten::nonzero(f32[4,6])"), ElementsAre(Line(4 * 6 * 2 * 8, "nonzero")));
  EXPECT_EQ(KernelsOf("aten::nonzero(f32[4,6])").notes.size(), 1u);
}

TEST(Selection, TheFileSaysHowManyThereAre) {
  const Result<Program> kernels =
      RunText("input %x: f32[4,6]\n%y: i64[7,2]{1,7} = aten::nonzero(%x)\nreturn %y\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(7, 2));
  EXPECT_TRUE(kernels->notes.empty());
}

TEST(Selection, WhereGivesAColumnForEachDimension) {
  EXPECT_EQ(ResultOf("aten::where(bool[4,6])", 0), "i64[24]");
  EXPECT_EQ(ResultOf("aten::where(bool[4,6])", 1), "i64[24]");
  EXPECT_EQ(ResultOf("aten::where(bool[4,6])", 2), "None");
  // A number is a vector of one element.
  EXPECT_EQ(ResultOf("aten::nonzero_numpy(bool[])"), "i64[1]");
  EXPECT_EQ(ResultOf("aten::argwhere(bool[4,6])"), "i64[24,2]{1,24}");
}

TEST(Selection, MaskedSelectTakesAllThatItCould) {
  EXPECT_EQ(ResultOf("aten::masked_select(f32[4,1], bool[6])"), "f32[24]");
  EXPECT_THAT(EventsOf("aten::masked_select(f32[4,6], bool[4,6])"),
              ElementsAre(Line(8, "sum"), Line(4 * 6 * 8, "empty_strided"), Line(-4 * 6 * 8, "sum"),
                          Line(-8, "masked_select"), Line(4 * 6 * 4, "masked_select")));
  EXPECT_EQ(KernelsOf("aten::masked_select(f32[4], bool[4])").notes.size(), 1u);
}

TEST(Selection, MaskedSelectWalksAllForTheFew) {
  // The mask is copied and counted whole, whatever it chose.
  const Result<Program> kernels = RunText(
      "input %x: f32[4,6]\ninput %m: bool[4,6]\n"
      "%y: f32[5] = aten::masked_select(%x, %m)\nreturn %y\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  const Timeline timeline = RunEager(*kernels, Target{});
  EXPECT_EQ(timeline.events[1].bytes, 4 * 6 * 8);
  EXPECT_EQ(timeline.events[4].bytes, 5 * 4);
}

TEST(Selection, AStaticNumberOfPositionsIsKept) {
  EXPECT_EQ(ResultOf("aten::nonzero_static(f32[4,4], size=6)"), "i64[6,2]");
  EXPECT_THAT(EventsOf("aten::nonzero_static(f32[4,4], size=6)"),
              ElementsAre(Line(6 * 2 * 8, "empty"), Line(16 * 2 * 8, "nonzero_static"),
                          Line(-16 * 2 * 8, "nonzero_static")));
  EXPECT_EQ(ResultOf("aten::count_nonzero(f32[2,8], 1)"), "i64[2]");
}

}  // namespace
}  // namespace steelyard
