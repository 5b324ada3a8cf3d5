// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cuda/cuda_events.h"
#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OrderStatistics, GiveValuesAndPlaces) {
  EXPECT_EQ(ResultOf("aten::kthvalue(f32[2,8], 3)"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::mode(f32[2,8], 1, True)", 1), "i64[2,1]");
  EXPECT_EQ(ResultOf("aten::cummax(f32[2,8], 1)", 1), "i64[2,8]");
  EXPECT_EQ(ResultOf("aten::aminmax(f32[2,8], dim=1)", 1), "f32[2]");
  EXPECT_THAT(RefusalOf("aten::kthvalue(f32[2,8], 9)"), HasSubstr("no element of that rank"));
}

// Recorded.
TEST(OrderStatistics, CudaSortsForTheMedianOfAll) {
  EXPECT_THAT(
      CudaBytesOf("aten::median(f32[200,300])"),
      ElementsAre(240000, 480000, 480000, 741119, -741119, -480000, -480000, 1, 4, -1, -240000));
  EXPECT_THAT(CudaBytesOf("aten::nanmedian(f32[200,300])"),
              ElementsAre(240000, 480000, 480000, 741119, -741119, -480000, -480000, 60000, 8,
                          480000, -480000, 8, 4, 8, -4, -8, -8, -60000, 4, -8, -240000));
}

TEST(OrderStatistics, CudaSelectsThoseOfADimensionWhereTheyLie) {
  EXPECT_THAT(CudaBytesOf("aten::median.dim(f32[200,300], 1)"), ElementsAre(800, 1600));
  EXPECT_THAT(CudaBytesOf("aten::kthvalue(f32[200,300], 3)"), ElementsAre(800, 1600));
  EXPECT_THAT(CudaBytesOf("aten::mode(f32[20,30])"), ElementsAre(80, 160));
  EXPECT_THAT(CudaBytesOf("aten::aminmax(f32[200,300], dim=1)"), ElementsAre(800, 800));
}

}  // namespace
}  // namespace steelyard
