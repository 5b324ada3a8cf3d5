// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Interpolation, KeepsPlacesAndWeightsOfNeighbours) {
  // Two tables of six results for each of two neighbours.
  EXPECT_THAT(EventsOf("aten::upsample_linear1d(f32[2,3,4], [6], False)"),
              ElementsAre(Line(2 * 3 * 6 * 4, "upsample_linear1d"), Line(6 * 8, "empty"),
                          Line(6 * 4, "empty"), Line(6 * 8, "empty"), Line(6 * 4, "empty"),
                          Line(-6 * 8, "upsample_linear1d"), Line(-6 * 4, "upsample_linear1d"),
                          Line(-6 * 8, "upsample_linear1d"), Line(-6 * 4, "upsample_linear1d")));
}

TEST(Interpolation, TakesSizesOrFactors) {
  EXPECT_EQ(ResultOf("aten::upsample_bicubic2d.vec(f32[2,3,4,4], None, False, [2.0,1.5])"),
            "f32[2,3,8,6]");
  EXPECT_THAT(RefusalOf("aten::upsample_bicubic2d.vec(f32[2,3,4,4], None, False, None)"),
              HasSubstr("sizes or factors"));
  EXPECT_THAT(RefusalOf("aten::upsample_trilinear3d(f32[2,3,4,4], [6,6,6], False)"),
              HasSubstr("4 dimensions, not 5"));
}

TEST(Antialiasing, WindowsGrowAsTheImageShrinks) {
  // 8 to 4 pixels: half a cubic window is 2 * 2 pixels, so 9 weights for each of 4 results.
  const std::vector<std::string> events =
      EventsOf("aten::_upsample_bicubic2d_aa(f32[1,1,8,8], [8,4], False)");
  EXPECT_EQ(events[4], Line(4 * 9 * 4, "empty"));
  EXPECT_THAT(RefusalOf("aten::_upsample_bilinear2d_aa(u8[1,3,8,8], [4,4], False)"),
              HasSubstr("not modelled"));
}

TEST(GridSampler, ResultIsAsLargeAsTheGrid) {
  EXPECT_EQ(ResultOf("aten::grid_sampler(f32[2,3,4,4], f32[2,5,6,2], 0, 0, False)"),
            "f32[2,3,5,6]");
  EXPECT_THAT(RefusalOf("aten::grid_sampler(f32[2,3,4,4], f32[2,5,6,3], 0, 0, False)"),
              HasSubstr("coordinates of a place differ: 3 vs 2"));
}

TEST(AffineGrid, IsOneProduct) {
  constexpr std::string_view kCall = "aten::affine_grid_generator(f32[2,2,3], [2,3,4,5], True)";
  EXPECT_EQ(ResultOf(kCall), "f32[2,4,5,2]");
  EXPECT_EQ(WorkOf(kCall).mac, Count(2 * 4 * 5 * 3 * 2));
}

}  // namespace
}  // namespace steelyard
