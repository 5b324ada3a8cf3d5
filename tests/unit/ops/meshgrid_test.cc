// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Meshgrid, GridsAreViews) {
  EXPECT_EQ(ResultOf("aten::meshgrid([f32[3], f32[4]])"), "f32[3,4]{1,0}");
  EXPECT_EQ(ResultOf("aten::meshgrid.indexing([f32[3], f32[4]], indexing='xy')"), "f32[4,3]{0,1}");
  EXPECT_THAT(EventsOf("aten::meshgrid([f32[3], f32[4]])"), IsEmpty());
}

TEST(Meshgrid, CombinationsAreAsManyAsTheBinomialSays) {
  EXPECT_EQ(ResultOf("aten::combinations(f32[5], 3)"), "f32[10,3]");        // 5 over 3
  EXPECT_EQ(ResultOf("aten::combinations(f32[5], 3, True)"), "f32[35,3]");  // 7 over 3
  EXPECT_THAT(RefusalOf("aten::combinations(f32[5,2])"), HasSubstr("the vector"));
}

}  // namespace
}  // namespace steelyard
