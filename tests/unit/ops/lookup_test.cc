// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Search, OtherDTypesAreCast) {
  EXPECT_THAT(EventsOf("aten::searchsorted.Tensor(f32[5], f64[2,3])"),
              ElementsAre(Line(2 * 3 * 8, "searchsorted"), Line(5 * 8, "empty_strided"),
                          Line(-5 * 8, "searchsorted")));
  EXPECT_EQ(ResultOf("aten::bucketize.Tensor(f32[2,3], f32[5], out_int32=True)"), "i32[2,3]");
}

TEST(OneHot, NeedsTheNumberOfClasses) {
  EXPECT_EQ(ResultOf("aten::one_hot(i64[2,4], 5)"), "i64[2,4,5]");
  EXPECT_THAT(RefusalOf("aten::one_hot(i64[2,4])"), HasSubstr("must be given"));
}

TEST(Numbers, LeaveTensorsForNothing) { EXPECT_THAT(EventsOf("aten::item(f32[1])"), IsEmpty()); }

}  // namespace
}  // namespace steelyard
