// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr int kImageElements = 2 * 3 * 4 * 4;

TEST(BatchNormBackward, MakesTheImagesGradientTwice) {
  EXPECT_THAT(
      EventsOf("aten::native_batch_norm_backward(f32[2,3,4,4], f32[2,3,4,4], f32[3], f32[3], "
               "f32[3], f32[3], f32[3], True, 1e-05, [True,True,True])"),
      ElementsAre(Line(kImageElements * 4, "empty"), Line(12, "empty"), Line(12, "empty"),
                  Line(kImageElements * 4, "empty"),
                  Line(-kImageElements * 4, "native_batch_norm_backward")));
}

TEST(BatchNormBackward, ChannelsThatLieSideBySideAreSummedInABuffer) {
  EXPECT_THAT(
      EventsOf("aten::native_batch_norm_backward(f32[2,3,4,4]{48,1,12,3}, "
               "f32[2,3,4,4]{48,1,12,3}, f32[3], f32[3], f32[3], f32[3], f32[3], True, 1e-05, "
               "[False,True,False])"),
      ElementsAre(Line(12, "empty"), Line(2 * 12, "empty"),
                  Line(-2 * 12, "native_batch_norm_backward")));
}

TEST(BatchNormBackward, SumsAGradientThatLiesOtherwise) {
  EXPECT_THAT(
      EventsOf("aten::native_batch_norm_backward(f32[2,3,4,4]{0,0,0,0}, f32[2,3,4,4], f32[3], "
               "f32[3], f32[3], f32[3], f32[3], True, 1e-05, [True,False,False])"),
      ElementsAre(Line(kImageElements * 4, "empty"), Line(12, "sum"),
                  Line(-12, "native_batch_norm_backward")));
}

TEST(GroupNormBackward, HasTwoSumsForEachChannelOfEachImage) {
  EXPECT_THAT(
      EventsOf("aten::native_group_norm_backward(f32[2,6,4], f32[2,6,4], f32[2,3], f32[2,3], "
               "f32[6], 2, 6, 4, 3, [True,True,True])"),
      ElementsAre(Line(2 * 6 * 4 * 4, "empty_strided"), Line(24, "empty"), Line(24, "empty"),
                  Line(2 * 6 * 4, "empty"), Line(2 * 6 * 4, "empty"),
                  Line(-2 * 6 * 4, "native_group_norm_backward"),
                  Line(-2 * 6 * 4, "native_group_norm_backward")));
}

}  // namespace
}  // namespace steelyard
