// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(SearchSorted, OtherDTypesAreCast) {
  EXPECT_THAT(EventsOf("aten::searchsorted.Tensor(f32[5], f64[2,3])"),
              ElementsAre(Line(2 * 3 * 8, "searchsorted"), Line(5 * 8, "empty_strided"),
                          Line(-5 * 8, "searchsorted")));
  EXPECT_EQ(ResultOf("aten::bucketize.Tensor(f32[2,3], f32[5], out_int32=True)"), "i32[2,3]");
}

}  // namespace
}  // namespace steelyard
