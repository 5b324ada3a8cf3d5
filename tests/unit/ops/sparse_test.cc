// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Sparse, SumsHaveRoomForTheRowsOfBoth) {
  constexpr const char* kCall =
      "steelyard::sparse_sum(i64[2,3], f32[3,4], i64[2,5], f32[5,4], [20,20,4])";
  EXPECT_EQ(ResultOf(kCall, 0), "i64[2,8]");
  EXPECT_EQ(ResultOf(kCall, 1), "f32[8,4]");
  EXPECT_THAT(EventsOf(kCall), ElementsAre(Line(2 * 8 * 8, "empty"), Line(8 * 4 * 4, "empty")));
}

TEST(Sparse, OnlyWhatIsNotOverwrittenIsMadeAnew) {
  EXPECT_THAT(EventsOf("steelyard::dense_plus_sparse(f32[20,4], i64[1,5], f32[5,4])"),
              ElementsAre(Line(20 * 4 * 4, "resize_")));
  EXPECT_THAT(EventsOf("steelyard::add_sparse_(f32[20,4], i64[1,5], f32[5,4])"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
