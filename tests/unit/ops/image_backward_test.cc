// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr int kImageBytes = 2 * 3 * 8 * 8 * 4;
constexpr int kPooled = 2 * 3 * 4 * 4 * 4;         // of the gradient
constexpr int kPositionBytes = 2 * 3 * 4 * 4 * 8;  // as int64

TEST(PoolBackward, CopiesWhatDoesNotLieAsTheGradientDoes) {
  EXPECT_THAT(EventsOf("aten::avg_pool2d_backward(f32[2,3,4,4], f32[2,3,8,8], [2,2], [2,2], "
                       "[0,0], False, True, None)"),
              ElementsAre(Line(kImageBytes, "avg_pool2d_backward")));
  EXPECT_THAT(EventsOf("aten::max_pool2d_with_indices_backward(f32[2,3,4,4], "
                       "f32[2,3,8,8]{192,1,24,3}, [2,2], [2,2], [0,0], [1,1], False, "
                       "i64[2,3,4,4]{48,1,12,3})"),
              ElementsAre(Line(kImageBytes, "max_pool2d_with_indices_backward"),
                          Line(kPositionBytes, "empty"), Line(kImageBytes, "empty"),
                          Line(-kImageBytes, "max_pool2d_with_indices_backward"),
                          Line(-kPositionBytes, "max_pool2d_with_indices_backward")));
}

TEST(PoolBackward, AnExpandedGradientIsCopied) {
  EXPECT_THAT(EventsOf("aten::_adaptive_avg_pool2d_backward(f32[2,3,4,4]{0,0,0,0}, f32[2,3,8,8])"),
              ElementsAre(Line(kImageBytes, "resize_"), Line(kPooled, "empty"),
                          Line(-kPooled, "_adaptive_avg_pool2d_backward")));
}

TEST(UpsampleBackward, HasTheSizeOfTheImageInTheGradientsOrder) {
  EXPECT_EQ(ResultOf("aten::upsample_nearest2d_backward(f32[2,3,8,8]{192,1,24,3}, [8,8], "
                     "[2,3,4,4])"),
            "f32[2,3,4,4]{48,1,12,3}");
}

TEST(ColumnsBackward, TheImageKeepsTheRoomOfTheColumns) {
  EXPECT_THAT(EventsOf("aten::col2im(f32[2,27,64], [8,8], [3,3], [1,1], [1,1], [1,1])"),
              ElementsAre(Line(2 * 27 * 64 * 4, "empty")));
  // Windows with gaps between them have fewer elements than the image.
  EXPECT_THAT(EventsOf("aten::col2im(f32[2,3,16], [8,8], [1,1], [1,1], [0,0], [2,2])"),
              ElementsAre(Line(2 * 3 * 16 * 4, "empty"), Line(kImageBytes, "resize_"),
                          Line(-2 * 3 * 16 * 4, "resize_")));
}

}  // namespace
}  // namespace steelyard
